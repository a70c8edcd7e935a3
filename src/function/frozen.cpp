// Comparing two traces node by node, and telling what was found.
#include "function/frozen.h"

#include "base/log.h"
#include "function/random_state.h"
#include "graph/regions.h"
#include "graph/variable_gate.h"
#include "ops/source/constant.h"
#include "tensor/host_data.h"
#include "tensor/tensor_impl.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace anyshape::function_detail {
namespace {

// The op that takes the value, looking through casts: those come with host numbers.
std::string user_of(const graph::Graph& graph, const graph::Value* value) {
  for (const graph::Node* node : graph.nodes()) {
    if (std::ranges::find(node->inputs, value) == node->inputs.end()) continue;
    if (!node->op->traits.is_cast) return std::string(node->op->name);
    value = node->outputs[0];
  }
  return "result";
}

// As the host gave it, before it was rounded to the literal's dtype.
std::string number_of(const Trace& trace, const graph::Node& constant) {
  const ConstantAttrs& attrs = constant.attrs.as<ConstantAttrs>();
  if (!is_floating(attrs.dtype)) return fmt::format("{}", attrs.integer);
  const auto given = trace.host_numbers.find(&constant);
  return fmt::format("{}", given == trace.host_numbers.end() ? attrs.number : given->second);
}

// By their text where they differ otherwise: data-dependent sizes are new symbols in every trace, with the names of the first. Regions, which that text
// leaves out, are compared by themselves.
bool same_attributes(const graph::Node& a, const graph::Node& b) {
  if (a.attrs.empty() && b.attrs.empty()) return true;
  std::string first, second;
  if (a.op->kind != OpKind::Control) a.attrs.append_key(first), b.attrs.append_key(second);
  return (!first.empty() && first == second) || a.attrs.to_string() == b.attrs.to_string();
}

// The attributes that differ, where both have the same ones: "shape=[a0, 3]" of "shape=[a0, 3], names=[...]".
std::vector<std::string> parts_of(const std::string& attributes) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char letter : attributes) {
    depth += letter == '[' || letter == '{' || letter == '(' ? 1 : letter == ']' || letter == '}' || letter == ')' ? -1 : 0;
    if (letter == ',' && depth == 0) {
      parts.emplace_back();
    } else if (letter != ' ' || !parts.back().empty()) {
      parts.back() += letter;
    }
  }
  return parts;
}

std::pair<std::string, std::string> differing(const std::string& first, const std::string& second) {
  const std::vector<std::string> a = parts_of(first), b = parts_of(second);
  if (a.size() != b.size() || a == b) return {first, second};
  std::vector<std::string> of_first, of_second;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) of_first.push_back(a[i]), of_second.push_back(b[i]);
  }
  return {fmt::format("{}", fmt::join(of_first, ", ")), fmt::format("{}", fmt::join(of_second, ", "))};
}

bool same_call(const graph::Node& a, const graph::Node& b) {
  return a.op == b.op && std::ranges::equal(a.inputs, b.inputs, {}, &graph::Value::id, &graph::Value::id);
}

// By bytes: a tensor with NaNs that is made anew is no difference.
bool same_content(const Tensor& a, const Tensor& b) {
  if (a.impl() == b.impl()) return true;
  if (describe(a) != describe(b)) return false;
  const TensorImpl &first = *a.impl(), &second = *b.impl();  // a trace holds row-major copies
  const char* const bytes = host_data(first);
  return std::equal(bytes, bytes + first.count() * size_of(first.dtype), host_data(second));
}

FrozenValue other_path(const std::string& first, const std::string& second) {
  return {
      fmt::format("{} stands where a second run did {}: the callable takes another path from run to run, and this trace holds one of them",
                  first, second),
      first};
}

struct Runs {
  const Trace &first, &second;
};

bool same_numbers(const Runs& runs, const graph::Node& a, const graph::Node& b) {
  return literal_in(*a.op, a.attrs) == nullptr || number_of(runs.first, a) == number_of(runs.second, b);
}

// False where the two take different paths: what follows cannot be compared.
bool compare_nodes(const Runs& runs, const graph::Graph& first, const graph::Graph& second, std::vector<FrozenValue>& frozen);

bool compare_regions(const Runs& runs, const graph::Node& a, const graph::Node& b, std::vector<FrozenValue>& frozen) {
  const std::vector<graph::NamedRegion> first = graph::regions_of(a), second = graph::regions_of(b);
  for (size_t i = 0; i < first.size(); ++i) {
    if (!compare_nodes(runs, *first[i].graph, *second[i].graph, frozen)) return false;
  }
  return true;
}

bool compare_nodes(const Runs& runs, const graph::Graph& first, const graph::Graph& second, std::vector<FrozenValue>& frozen) {
  const std::vector<graph::Node*>&a = first.nodes(), &b = second.nodes();
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i >= a.size() || i >= b.size() || !same_call(*a[i], *b[i])) {
      const auto name = [&](const std::vector<graph::Node*>& nodes) {
        return i < nodes.size() ? std::string(nodes[i]->op->name) : "nothing";
      };
      frozen.push_back(other_path(name(a), name(b)));
      return false;
    }
    if (!compare_regions(runs, *a[i], *b[i], frozen)) return false;
    if (same_attributes(*a[i], *b[i]) && same_numbers(runs, *a[i], *b[i])) continue;
    if (literal_in(*a[i]->op, a[i]->attrs) != nullptr) {
      const std::string user = user_of(first, a[i]->outputs[0]);
      frozen.push_back({fmt::format("{} holds the host number {}; a second run gave {}", user, number_of(runs.first, *a[i]),
                                    number_of(runs.second, *b[i])),
                        user});
    } else {
      const std::string op(a[i]->op->name);
      const auto [first_attrs, second_attrs] = differing(a[i]->attrs.to_string(), b[i]->attrs.to_string());
      frozen.push_back({fmt::format("{} holds {}; a second run gave {}", op, first_attrs, second_attrs), op});
    }
  }
  return true;
}

void compare_captures(const Trace& first, const Trace& second, std::vector<FrozenValue>& frozen) {
  // Inputs are arguments, captures, variables; a captured tensor that was made anew with the same values is no difference.
  const size_t arguments = first.graph->inputs().size() - first.captures.size() - first.variables.size();
  for (size_t i = 0; i < std::min(first.captures.size(), second.captures.size()); ++i) {
    const Tensor &a = first.captures[i], &b = second.captures[i];
    if (same_content(a, b)) continue;
    const std::string user = user_of(*first.graph, first.graph->inputs()[arguments + i]);
    frozen.push_back({fmt::format("{} holds a tensor {} made by the callable; a second run gave {}", user, describe(a),
                                  describe(a) == describe(b) ? "other values" : describe(b)),
                      user});
  }
}

void compare_variables(const Trace& first, const Trace& second, std::vector<FrozenValue>& frozen) {
  const size_t before = first.graph->inputs().size() - first.variables.size();
  for (size_t i = 0; i < std::min(first.variables.size(), second.variables.size()); ++i) {
    const VariableState &a = *first.variables[i], &b = *second.variables[i];
    if (&a == &b) continue;
    const std::string user = user_of(*first.graph, first.graph->inputs()[before + i]);
    frozen.push_back({fmt::format("{} holds {}; a second run took {}", user, a.described(), b.described()), user});
  }
}

void compare_results(const Trace& first, const Trace& second, std::vector<FrozenValue>& frozen) {
  const auto op_of = [](const graph::Value* value) { return value->node == nullptr ? "an input" : std::string(value->node->op->name); };
  for (size_t i = 0; i < std::min(first.graph->outputs.size(), second.graph->outputs.size()); ++i) {
    const graph::Value *a = first.graph->outputs[i], *b = second.graph->outputs[i];
    if (a->id != b->id)
      return frozen.push_back(other_path(fmt::format("the result of {}", op_of(a)), fmt::format("return that of {}", op_of(b))));
  }
}

void compare(const Trace& first, const Trace& second, std::vector<FrozenValue>& frozen) {
  if (second.graph == nullptr) return frozen.push_back(other_path("a whole run", "make variables"));
  compare_captures(first, second, frozen);
  if (!compare_nodes({first, second}, *first.graph, *second.graph, frozen)) return;
  compare_variables(first, second, frozen);
  compare_results(first, second, frozen);
}

constexpr std::string_view threw = "the callable threw when it was run a second time: ";
constexpr size_t told = 3;  // of the values in one warning

}  // namespace

std::vector<FrozenValue> find_frozen(const Trace& first, const std::function<Trace()>& trace_again) {
  std::vector<FrozenValue> frozen;
  const QuietLog quiet;                              // what it warns of was said the first time
  const RandomScope random(runtime::RandomState{});  // what it draws is nobody's: the next call draws what it would have drawn
  try {
    compare(first, trace_again(), frozen);
  } catch (const std::exception& error) {  // the first run is what counts
    frozen.push_back({fmt::format("{}{}", threw, error.what()), ""});
  } catch (...) {
    frozen.push_back({fmt::format("{}no std::exception", threw), ""});
  }
  return frozen;
}

void warn_of_frozen(const std::string& function, const std::vector<FrozenValue>& frozen) {
  if (frozen.empty()) return;
  if (frozen[0].text.starts_with(threw)) {
    return log_warning(
        fmt::format("function \"{}\": {}. A function's first trace is made twice to find host values that change; the first run is what "
                    "counts. Let the callable give the same calls each time, or set .check_frozen = false.",
                    function, frozen[0].text));
  }
  std::string values;
  for (size_t i = 0; i < std::min(frozen.size(), told); ++i) values += fmt::format("{}{}", i == 0 ? "" : "; ", frozen[i].text);
  if (frozen.size() > told) values += fmt::format("; and {} more, which report() lists", frozen.size() - told);
  log_warning(
      fmt::format("function \"{}\": {}. What a callable takes from the host while it is traced is a constant of every later call: pass it "
                  "as an argument (as::Tensor), keep it in an as::Variable, or draw it with as::random. Where one value for all calls is "
                  "meant, compute it outside, or set .check_frozen = false.",
                  function, values));
}

}  // namespace anyshape::function_detail
