// Walks from a value to what made it, a few nodes far.
#include "passes/patterns.h"

#include "ops/all_ops.h"
#include "ops/shape_attrs.h"

#include <algorithm>
#include <cmath>

namespace anyshape::passes {

using graph::Node;
using graph::Value;

Value* scalar_of(Value* value) {
  while (value->spec.shape.rank() > 0) {
    if (value->node == nullptr || !value->node->op->traits.keeps_elements) return nullptr;
    value = value->node->inputs[0];
  }
  return value;
}

const ConstantAttrs* literal_of(Value* value) {
  const Value* const scalar = scalar_of(value);
  return scalar != nullptr && scalar->node != nullptr ? literal_in(*scalar->node->op, scalar->node->attrs) : nullptr;
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
  if (const ConstantAttrs* const literal = literal_in(*node->op, node->attrs))
    return literal->number != 0 || !std::signbit(literal->number);
  const auto never = [&](const Value* input) { return is_never_negative_zero(input, depth - 1); };
  const auto is_integer = [](const Value* input) { return !is_floating(input->spec.dtype); };
  switch (node->op->traits.never_negative_zero) {
    case NeverNegativeZero::Always: return true;
    case NeverNegativeZero::WithOneInput: return std::ranges::any_of(node->inputs, never);
    case NeverNegativeZero::WithAllInputs: return std::ranges::all_of(node->inputs, never);
    case NeverNegativeZero::WithEqualInputs: return node->inputs[0] == node->inputs[1];
    case NeverNegativeZero::WithIntegerInputs: return std::ranges::all_of(node->inputs, is_integer);
    case NeverNegativeZero::Unknown: break;
  }
  return node->op->kind == OpKind::Movement && std::ranges::all_of(node->inputs, never);
}

}  // namespace

bool is_never_negative_zero(const Value* value) { return is_never_negative_zero(value, 6); }

const Node* mask_of_relu(const Node& node) {
  if (node.op != &where_op || !is_made_by(node.inputs[0], less_equal_op) || !is_number(node.inputs[1], 0)) return nullptr;
  const Node& mask = *node.inputs[0]->node;
  const bool is_relu =
      mask.inputs[0] == node.inputs[2] && is_number(mask.inputs[1], 0) && node.outputs[0]->spec.shape.same_as(mask.outputs[0]->spec.shape);
  return is_relu ? &mask : nullptr;
}

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
