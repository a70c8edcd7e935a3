// Movement that says in two ops what one can, repeats what would be repeated anyway, or moves what is the same everywhere. Reshapes stand
// between loops that could be one, and a broadcast of its own is written to memory: both cost more than they look. Every bit stays.
#include "base/switches.h"
#include "ops/all_ops.h"
#include "ops/index/take.h"
#include "ops/movement/transpose.h"
#include "ops/reduce/axes.h"
#include "ops/shape_attrs.h"
#include "passes/patterns.h"
#include "passes/rewrite.h"
#include "passes/run_passes.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace anyshape::passes {
namespace {

const Switch pass_switch("simplify_shapes", "movement is joined, and repeating left to what reads the repeated");

using graph::Node;
using graph::Value;

Value* join_reshapes(Rewriting& at, const Node& node) {
  const Node* const inner = node.inputs.empty() ? nullptr : node.inputs[0]->node;
  if (!node.op->is_alias || inner == nullptr || !inner->op->is_alias) return nullptr;
  Value* const source = inner->inputs[0];
  return source->strides.empty() ? reshaped(at, source, node.outputs[0]->spec.shape) : nullptr;
}

Value* join_transposes(Rewriting& at, const Node& node) {
  if (node.op != &transpose_op || !is_made_by(node.inputs[0], transpose_op)) return nullptr;
  const std::vector<int64_t>& inner = node.inputs[0]->node->attrs.as<TransposeAttrs>().permutation;
  TransposeAttrs joined = node.attrs.as<TransposeAttrs>();
  for (int64_t& axis : joined.permutation) axis = inner[static_cast<size_t>(axis)];
  Value* const source = node.inputs[0]->node->inputs[0];
  if (std::ranges::is_sorted(joined.permutation) && source->strides.empty()) return source;
  return at.add(transpose_op, {source}, std::move(joined), node.outputs[0]->spec);
}

Value* join_broadcasts(Rewriting& at, const Node& node) {
  if (node.op != &broadcast_to_op || !is_made_by(node.inputs[0], broadcast_to_op)) return nullptr;
  return repeated_to(at, node.inputs[0]->node->inputs[0], node.outputs[0]->spec);
}

// What only has been moved about and is one number everywhere is a fill, which every loop makes for itself.
Value* fill(Rewriting& at, const Node& node) {
  if (node.outputs[0]->spec.shape.rank() == 0 || node.op == &full_op) return nullptr;
  Value* const scalar = scalar_of(node.outputs[0]);
  const bool is_alias = node.op->is_alias && node.inputs[0] == scalar;  // one number under another shape: nothing to write
  return scalar == nullptr || (is_alias && !is_made_by(scalar, constant_op)) ? nullptr : repeated_to(at, scalar, node.outputs[0]->spec);
}

bool is_elementwise(const Node& node) { return node.op->kind == OpKind::Elementwise && node.op->element != nullptr && !node.op->is_alias; }

// The same everywhere, so it is computed once.
Value* compute_as_scalar(Rewriting& at, const Node& node) {
  const TensorSpec& spec = node.outputs[0]->spec;
  if (!is_elementwise(node) || spec.shape.rank() == 0) return nullptr;
  std::vector<Value*> scalars;
  for (Value* input : node.inputs) {
    scalars.push_back(scalar_of(input));
    if (scalars.back() == nullptr) return nullptr;
  }
  Value* const scalar = at.add(*node.op, scalars, node.attrs, {spec.dtype, {}, {}});
  return at.add(full_op, {scalar}, ShapeAttrs{spec.shape}, spec);
}

// An elementwise op broadcasts its operands itself.
Value* leave_broadcast_to_op(Rewriting& at, const Node& node) {
  if (!is_elementwise(node) || node.inputs.size() < 2) return nullptr;
  graph::ValueList inputs = node.inputs;
  bool is_smaller = false;
  for (Value*& input : inputs) {
    if (!is_made_by(input, broadcast_to_op) && !is_made_by(input, full_op)) continue;
    Value* const whole = std::exchange(input, input->node->inputs[0]);
    std::vector<TensorSpec> specs;
    for (const Value* each : inputs) specs.push_back(each->spec);
    const bool is_same = graph::specs_by_rules(*node.op, specs, node.attrs)[0].shape.same_as(node.outputs[0]->spec.shape);
    if (!is_same) input = whole;
    is_smaller = is_smaller || is_same;
  }
  return is_smaller ? at.add(*node.op, std::move(inputs), node.attrs, node.outputs[0]->spec) : nullptr;
}

// op(broadcast(x)) is broadcast(op(x)): fewer elements to compute, and the broadcast may vanish in what follows.
Value* compute_before_broadcast(Rewriting& at, const Node& node) {
  if (!is_elementwise(node) || node.inputs.size() != 1 || !is_made_by(node.inputs[0], broadcast_to_op)) return nullptr;
  Value* const source = node.inputs[0]->node->inputs[0];
  Value* const result = at.add(*node.op, {source}, node.attrs, {node.outputs[0]->spec.dtype, source->spec.shape, {}});
  return repeated_to(at, result, node.outputs[0]->spec);
}

// Along axes of size 1 there is nothing to combine.
Value* skip_reduction(Rewriting& at, const Node& node) {
  const OpDef* const named[] = {&sum_op, &prod_op, &max_op, &min_op, &any_op, &all_op};
  if (std::ranges::find(named, node.op) == std::end(named) || !node.inputs[0]->strides.empty()) return nullptr;
  Value* const x = node.inputs[0];
  const auto is_one = [&](int64_t axis) { return x->spec.shape[static_cast<int>(axis)].same_as(1); };
  if (x->spec.dtype != node.outputs[0]->spec.dtype || !std::ranges::all_of(node.attrs.as<ReduceAttrs>().axes, is_one)) return nullptr;
  return reshaped(at, node.op == &sum_op ? plus_zero(at, x) : x, node.outputs[0]->spec.shape);
}

// One element of each row of what is computed element by element: computed from one element of each row, so that a loss needs no row of
// logarithms in memory for the sake of a label's.
Value* compute_after_take(Rewriting& at, const Node& node) {
  if (node.op != &take_op || node.inputs[0]->node == nullptr || !is_elementwise(*node.inputs[0]->node)) return nullptr;
  const Node& made = *node.inputs[0]->node;
  const Shape &rows = node.inputs[1]->spec.shape, &whole = made.outputs[0]->spec.shape;
  const TakeAttrs& attrs = node.attrs.as<TakeAttrs>();
  if (attrs.batch_dims != rows.rank() || attrs.axis != rows.rank() || whole.rank() != rows.rank() + 1) return nullptr;
  Shape column = whole;
  column[-1] = 1;
  const auto is_whole = [&](const Value* input) { return input->spec.shape.same_as(whole); };
  const auto is_known = [&](const Value* input) {
    return is_whole(input) || input->spec.shape.rank() == 0 || (input->spec.shape.same_as(column) && input->strides.empty());
  };
  // An operand that the indices are held to stays: they are refused as before.
  if (!std::ranges::any_of(made.inputs, is_whole) || !std::ranges::all_of(made.inputs, is_known)) return nullptr;
  std::vector<Value*> elements;
  for (Value* input : made.inputs) {
    if (is_whole(input)) {
      elements.push_back(at.add(take_op, {input, node.inputs[1]}, node.attrs, {input->spec.dtype, rows, {}}));
    } else {
      elements.push_back(input->spec.shape.rank() == 0 ? input : reshaped(at, input, rows));
    }
  }
  return at.add(*made.op, elements, made.attrs, node.outputs[0]->spec);
}

}  // namespace

void simplify_shapes(graph::Graph& graph, Decisions& decisions) {
  static constexpr RewriteRule rules[] = {
      {"one reshape does what two did", join_reshapes},
      {"one transpose does what two did", join_transposes},
      {"one broadcast does what two did", join_broadcasts},
      {"it is the same number everywhere", fill},
      {"it is the same number everywhere, computed once", compute_as_scalar},
      {"an elementwise op broadcasts by itself", leave_broadcast_to_op},
      {"fewer elements before the broadcast", compute_before_broadcast},
      {"its axes have the size 1", skip_reduction},
      {"one element of each row is computed alone", compute_after_take},
  };
  rewrite("simplify_shapes", graph, rules, decisions);
}

}  // namespace anyshape::passes
