// Reductions along axes, and what runs along one of them.
#include "onnx/out/rule.h"

#include <algorithm>

namespace anyshape::onnx::out {
namespace {

// Of an image all of whose spatial axes go, channels may stand behind the rows: the result is the same.
void choose_layout(NodeCall& c, const std::vector<int64_t>& axes, bool keeps) {
  if (!c.e.is_channels_second(c.node.inputs[0])) return;
  const int rank = c.rank(0);
  const bool keeps_order = keeps || [&] {
    std::vector<int64_t> kept;  // in the order of the image
    for (const int64_t axis : to_channels_second(rank)) {
      if (std::ranges::find(axes, axis) == axes.end()) kept.push_back(axis);
    }
    return std::ranges::is_sorted(kept);
  }();
  if (keeps_order) c.use_channels_second();
}

std::string reduced(NodeCall& c, std::string_view op, const std::string& x, const std::vector<int64_t>& axes, bool keeps) {
  if (axes.empty()) return x;
  std::vector<int64_t> own;
  for (const int64_t axis : axes) own.push_back(c.axis(axis, c.rank(0)));
  std::ranges::sort(own);
  return c.add(op, {x, c.e.integers(own)}, {{"keepdims", int64_t{keeps}}});
}

void give(NodeCall& c, const std::string& name) {
  if (c.is_channels_second() && c.a.flag("keep_dims")) return c.out(name);
  if (c.is_channels_second()) return c.out_ours(0, name);
  c.out(name);
}

template <const char* op>
void number(NodeCall& c) {
  const std::vector<int64_t>& axes = c.a.list("axes");
  choose_layout(c, axes, c.a.flag("keep_dims"));
  give(c, reduced(c, op, c.in(0), axes, c.a.flag("keep_dims")));
}

// Counted: of nothing no element is true, and all are.
void any(NodeCall& c) {
  const std::string count = reduced(c, "ReduceSum", c.cast(c.in(0), Dtype::i64), c.a.list("axes"), c.a.flag("keep_dims"));
  give(c, c.cast(count, Dtype::b8));
}
void all(NodeCall& c) {
  const std::string others = c.cast(c.add("Not", {c.in(0)}), Dtype::i64);
  give(c, c.add("Not", {c.cast(reduced(c, "ReduceSum", others, c.a.list("axes"), c.a.flag("keep_dims")), Dtype::b8)}));
}

void sum_to(NodeCall& c) {
  const std::vector<Dim>& target = c.a.sizes("shape");
  const int missing = c.rank(0) - static_cast<int>(target.size());
  std::vector<int64_t> gone, summed;
  for (int axis = 0; axis < missing; ++axis) gone.push_back(axis);
  for (int axis = missing; axis < c.rank(0); ++axis) {
    const Dim &size = c.shape(0)[axis], &wanted = target[static_cast<size_t>(axis - missing)];
    if (size.same_as(wanted)) continue;
    if (!wanted.same_as(1)) c.no_form("whether an axis is summed depends on sizes of the call");
    summed.push_back(axis);
  }
  const std::string within = reduced(c, "ReduceSum", c.in(0), summed, true);
  c.out(reduced(c, "ReduceSum", within, gone, false));
}

template <const char* op>
void arg_extreme(NodeCall& c) {
  std::string x = c.in(0);
  const bool is_whole = c.dtype() == Dtype::i64;  // ONNX Runtime compares these as f64
  if (is_whole) x = c.cast(x, Dtype::f64);
  const std::string found = c.add(op, {x}, {{"axis", c.a.integer("axis")}, {"keepdims", int64_t{c.a.flag("keep_dims")}}});
  c.out(c.cast(found, Dtype::i32));
}

void cumsum(NodeCall& c) {
  c.out(c.add("CumSum", {c.in(0), c.e.integer(c.a.integer("axis"))},
              {{"exclusive", int64_t{c.a.flag("exclusive")}}, {"reverse", int64_t{c.a.flag("reverse")}}}));
}

// Step by step along an axis: `next` gives the state and what is written from the state before and a slice of each input.
struct Step {
  std::string state, written;
};
void walk(NodeCall& c, double first, const std::function<Step(const std::string& state, std::span<const std::string> slices)>& next) {
  const int64_t axis = c.a.integer("axis"), direction = c.a.flag("reverse") ? 1 : 0;
  Names sequences;
  for (size_t i = 0; i < c.inputs(); ++i) sequences.push_back(c.in(i));
  std::vector<Dim> beside;
  for (int i = 0; i < c.rank(0); ++i) {
    if (i != axis) beside.push_back(c.shape(0)[i]);
  }
  const std::string start = c.add("Expand", {c.number(first), c.e.sizes(beside)});
  const std::string state = c.e.fresh("state");
  Names slices;
  for (size_t i = 0; i < sequences.size(); ++i) slices.push_back(c.e.fresh("slice"));
  const std::shared_ptr<GraphText> body = c.e.subgraph("step", [&]() -> Names {
    const Step step = next(state, slices);
    return {step.state, step.written};
  });
  body->inputs.push_back({.name = state, .is_typed = false});
  for (const std::string& slice : slices) body->inputs.push_back({.name = slice, .is_typed = false});
  Names inputs{start};
  inputs.insert(inputs.end(), sequences.begin(), sequences.end());
  const auto count = static_cast<int64_t>(sequences.size());
  c.out(c.e.add_all("Scan", inputs, 2,
                    {{"body", body},
                     {"num_scan_inputs", count},
                     {"scan_input_axes", std::vector<int64_t>(sequences.size(), axis)},
                     {"scan_input_directions", std::vector<int64_t>(sequences.size(), direction)},
                     {"scan_output_axes", std::vector<int64_t>{axis}},
                     {"scan_output_directions", std::vector<int64_t>{direction}}})[1]);
}

void cumprod(NodeCall& c) {
  const bool is_exclusive = c.a.flag("exclusive");
  walk(c, 1, [&](const std::string& state, std::span<const std::string> slices) -> Step {
    const std::string product = c.add("Mul", {state, slices[0]});
    return {product, is_exclusive ? state : product};
  });
}

constexpr char sum[] = "ReduceSum", prod[] = "ReduceProd", max[] = "ReduceMax", min[] = "ReduceMin", argmax[] = "ArgMax",
               argmin[] = "ArgMin";
constexpr std::string_view gradient = "it is part of a gradient, and ONNX has none";

constexpr Rule rules[] = {
    {"sum", number<sum>, {}, true},
    {"prod", number<prod>, {}, true},
    {"max", number<max>, {}, true},
    {"min", number<min>, {}, true},
    {"any", any},
    {"all", all},
    {"sum_to", sum_to, {}, true},
    {"argmax", arg_extreme<argmax>, {}, true},
    {"argmin", arg_extreme<argmin>, {}, true},
    {"cumsum", cumsum, {}, true},
    {"cumprod", cumprod, {}, true},
    {"linear_recurrence", nullptr, gradient},
};

}  // namespace

std::span<const Rule> reduce_rules() { return rules; }

}  // namespace anyshape::onnx::out
