// Control flow: regions become graphs inside of nodes, which see the values around them.
#include "onnx/out/rule.h"

#include <limits>

namespace anyshape::onnx::out {
namespace {

std::span<graph::Value* const> captured(const NodeCall& c, size_t first, size_t count) {
  return std::span<graph::Value* const>(c.node.inputs.data(), c.node.inputs.size()).subspan(first, count);
}

// What a region uses of this layout or dtype is made around it, where both branches and every step find it.
void make_around(NodeCall& c) {
  for (size_t i = 0; i < c.inputs(); ++i) c.in(i);
}

void cond(NodeCall& c) {
  make_around(c);
  const auto first = static_cast<size_t>(c.a.integer("then_inputs"));
  const auto branch = [&](const char* name, size_t begin, size_t count) {
    return c.e.subgraph(name, [&] { return c.region(*c.a.region(name), {}, captured(c, 1 + begin, count)); });
  };
  const auto then = branch("then", 0, first), otherwise = branch("else", first, c.inputs() - 1 - first);
  const Names results = c.e.add_all("If", {c.in(0)}, c.node.outputs.size(), {{"then_branch", then}, {"else_branch", otherwise}});
  for (size_t i = 0; i < results.size(); ++i) c.out(i, results[i]);
}

void scan(NodeCall& c) {
  if (!c.a.size("active").is_constant()) c.no_form("it goes over rows of unequal length; pad them with to_padded");
  make_around(c);
  if (write_recurrent(c)) return;
  const auto carried = static_cast<size_t>(c.a.integer("carried")), sequences = static_cast<size_t>(c.a.integer("sequences"));
  const bool is_counted = sequences == 0;  // ONNX counts steps by a sequence: without one, by their numbers
  const int64_t direction = c.a.flag("reverse") ? 1 : 0;
  Names inputs, given;
  for (size_t i = 0; i < carried + sequences; ++i) {
    inputs.push_back(c.in(i));
    given.push_back(c.e.fresh(i < carried ? "carry" : "step"));
  }
  if (is_counted) inputs.push_back(c.add("Range", {c.e.integer(0), c.e.size_number(c.a.size("length")), c.e.integer(1)}));
  const std::shared_ptr<GraphText> body = c.e.subgraph(
      "body", [&] { return c.region(*c.a.region("body"), given, captured(c, carried + sequences, c.inputs() - carried - sequences)); });
  if (is_counted) given.push_back(c.e.fresh("step"));
  for (const std::string& name : given) body->inputs.push_back({.name = name, .is_typed = false});
  const size_t steps = inputs.size() - carried, written = c.node.outputs.size() - carried;
  const Names results = c.e.add_all("Scan", inputs, c.node.outputs.size(),
                                    {{"body", body},
                                     {"num_scan_inputs", static_cast<int64_t>(steps)},
                                     {"scan_input_directions", std::vector<int64_t>(steps, direction)},
                                     {"scan_output_directions", std::vector<int64_t>(written, direction)}});
  for (size_t i = 0; i < results.size(); ++i) c.out(i, results[i]);
}

// The condition is computed before the loop and at the end of every iteration.
void while_loop(NodeCall& c) {
  make_around(c);
  const auto carried = static_cast<size_t>(c.a.integer("carried")), asked = static_cast<size_t>(c.a.integer("condition_inputs"));
  const int64_t most = c.a.integer("max_iterations");
  const auto goes_on = [&](std::span<const std::string> values) {
    return c.region(*c.a.region("condition"), values, captured(c, carried, asked))[0];
  };
  Names start, given;
  for (size_t i = 0; i < carried; ++i) {
    start.push_back(c.in(i));
    given.push_back(c.e.fresh("carry"));
  }
  Names inputs{most < 0 ? std::string() : c.e.integer(most), goes_on(start)};
  inputs.insert(inputs.end(), start.begin(), start.end());
  const std::shared_ptr<GraphText> body = c.e.subgraph("body", [&] {
    Names next = c.region(*c.a.region("body"), given, captured(c, carried + asked, c.inputs() - carried - asked));
    next.insert(next.begin(), goes_on(next));
    return next;
  });
  body->inputs = {{.name = c.e.fresh("iteration"), .dtype = Dtype::i64, .sizes = {}},
                  {.name = c.e.fresh("goes_on"), .dtype = Dtype::b8, .sizes = {}}};
  for (const std::string& name : given) body->inputs.push_back({.name = name, .is_typed = false});
  const Names results = c.e.add_all("Loop", inputs, carried, {{"body", body}});
  for (size_t i = 0; i < results.size(); ++i) c.out(i, results[i]);
}

constexpr Rule rules[] = {
    {"cond", cond},
    {"scan", scan},
    {"while_loop", while_loop},
};

}  // namespace

std::span<const Rule> control_rules() { return rules; }

}  // namespace anyshape::onnx::out
