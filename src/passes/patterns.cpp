// Walks from a value to what made it, a few nodes far.
#include "passes/patterns.h"

#include "ops/all_ops.h"
#include "ops/shape_attrs.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace anyshape::passes {

using graph::Node;
using graph::Value;

Value* scalar_of(Value* value) {
  const OpDef* const movers[] = {&full_op, &reshape_op, &broadcast_to_op, &transpose_op, &same_sizes_op};
  while (value->spec.shape.rank() > 0) {
    if (value->node == nullptr || std::ranges::find(movers, value->node->op) == std::end(movers)) return nullptr;
    value = value->node->inputs[0];
  }
  return value;
}

const ConstantAttrs* literal_of(Value* value) {
  const Value* const scalar = scalar_of(value);
  return scalar != nullptr && is_made_by(scalar, constant_op) ? &scalar->node->attrs.as<ConstantAttrs>() : nullptr;
}

bool is_number(Value* value, double number) {
  const ConstantAttrs* const known = literal_of(value);
  if (known == nullptr) return false;
  if (!is_floating(known->dtype)) return !std::signbit(number) && known->integer == static_cast<int64_t>(number);
  return known->number == number && std::signbit(known->number) == std::signbit(number);
}

namespace {

// `depth`: how far to look.
bool is_never_negative_zero(const Value* value, int depth) {
  if (!is_floating(value->spec.dtype)) return true;
  const Node* const node = value->node;
  if (depth == 0 || node == nullptr || node->outputs.size() != 1) return false;
  const OpDef* const sums[] = {&sum_op, &segment_sum_op, &matmul_op, &take_gradient_op};  // begin with 0, and 0 + -0 is 0
  const OpDef* const positive[] = {&exp_op, &sigmoid_op, &abs_op, &size_op, &one_hot_op};
  if (std::ranges::find(sums, node->op) != std::end(sums) || std::ranges::find(positive, node->op) != std::end(positive)) return true;
  if (node->op == &constant_op) {
    const double number = node->attrs.as<ConstantAttrs>().number;
    return number != 0 || !std::signbit(number);
  }
  if (node->op == &multiply_op) return node->inputs[0] == node->inputs[1];
  if (node->op == &cast_op) return !is_floating(node->inputs[0]->spec.dtype);
  const auto never = [&](const Value* input) { return is_never_negative_zero(input, depth - 1); };
  if (node->op == &add_op) return std::ranges::any_of(node->inputs, never);  // -0 + -0 alone gives -0
  const bool moves = node->op->kind == OpKind::Movement || node->op == &full_op;
  return moves && std::ranges::all_of(node->inputs, never);
}

}  // namespace

bool is_never_negative_zero(const Value* value) { return is_never_negative_zero(value, 6); }

Value* repeated_to(Rewriting& at, Value* value, const TensorSpec& spec) {
  if (value->spec.shape.same_as(spec.shape)) return value;
  if (value->spec.shape.rank() == 0) return at.add(full_op, {value}, ShapeAttrs{spec.shape}, spec);
  return at.add(broadcast_to_op, {value}, ShapeAttrs{spec.shape}, spec);
}

Value* literal(Rewriting& at, Dtype dtype, double number) {
  const ConstantAttrs attrs = is_floating(dtype) ? ConstantAttrs{dtype, number, 0} : ConstantAttrs{dtype, 0, static_cast<int64_t>(number)};
  return at.add(constant_op, {}, attrs, {dtype, {}, {}});
}

Value* plus_zero(Rewriting& at, Value* x) {
  if (is_never_negative_zero(x)) return x;
  return at.add(add_op, {x, literal(at, x->spec.dtype, 0)}, {}, x->spec);
}

Value* reshaped(Rewriting& at, Value* value, const Shape& shape) {
  if (value->spec.shape.same_as(shape)) return value;
  return at.add(reshape_op, {value}, ShapeAttrs{shape}, {value->spec.dtype, shape, {}});
}

}  // namespace anyshape::passes
