// Arithmetic that changes no number, or a costlier way to a number that a cheaper one gives as well. Only what holds for every input, NaN,
// infinities and -0 included: x + 0 is no x where x may be -0, x * 0 is no 0 and x - x is no 0 where x may be NaN. Every bit stays, but for denormals: an op
// flushes them, and where it is gone they go through.
#include "base/switches.h"
#include "ops/all_ops.h"
#include "passes/patterns.h"
#include "passes/rewrite.h"
#include "passes/run_passes.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace anyshape::passes {
namespace {

const Switch pass_switch("simplify_algebra", "arithmetic that changes no number is left out");

using graph::Node;
using graph::Value;

Value* kept(Rewriting& at, const Node& node, Value* operand) { return repeated_to(at, operand, node.outputs[0]->spec); }

Value* drop_neutral(Rewriting& at, const Node& node) {
  if (node.inputs.size() != 2) return nullptr;
  Value *const a = node.inputs[0], *const b = node.inputs[1];
  const auto adds_nothing = [](Value* zero, const Value* x) {
    return is_number(zero, -0.0) || (is_number(zero, 0) && is_never_negative_zero(x));
  };
  if (node.op == &add_op) return adds_nothing(b, a) ? kept(at, node, a) : adds_nothing(a, b) ? kept(at, node, b) : nullptr;
  if (node.op == &subtract_op) return is_number(b, 0) ? kept(at, node, a) : nullptr;
  if (node.op == &multiply_op) return is_number(b, 1) ? kept(at, node, a) : is_number(a, 1) ? kept(at, node, b) : nullptr;
  if (node.op == &divide_op) return is_number(b, 1) ? kept(at, node, a) : nullptr;
  return nullptr;
}

Value* multiply_by_zero(Rewriting& at, const Node& node) {
  if (node.op != &multiply_op || is_floating(node.outputs[0]->spec.dtype)) return nullptr;
  for (Value* input : node.inputs) {
    if (is_number(input, 0)) return kept(at, node, scalar_of(input));
  }
  return nullptr;
}

Value* undo(Rewriting& at, const Node& node) {
  const OpDef* const own_inverse[] = {&negative_op, &logical_not_op};
  if (std::ranges::find(own_inverse, node.op) == std::end(own_inverse) || !is_made_by(node.inputs[0], *node.op)) return nullptr;
  return kept(at, node, node.inputs[0]->node->inputs[0]);
}

Value* take_sign_along(Rewriting& at, const Node& node) {
  const auto positive = [](Value* value) { return is_made_by(value, negative_op) ? value->node->inputs[0] : nullptr; };
  const TensorSpec& spec = node.outputs[0]->spec;
  if (node.op == &abs_op && positive(node.inputs[0]) != nullptr) return at.add(abs_op, {positive(node.inputs[0])}, {}, spec);
  if (node.op != &add_op && node.op != &subtract_op) return nullptr;
  const OpDef& other = node.op == &add_op ? subtract_op : add_op;
  if (Value* const b = positive(node.inputs[1])) return at.add(other, {node.inputs[0], b}, {}, spec);
  Value* const a = node.op == &add_op ? positive(node.inputs[0]) : nullptr;
  return a == nullptr ? nullptr : at.add(subtract_op, {node.inputs[1], a}, {}, spec);
}

Value* drop_repetition(Rewriting& at, const Node& node) {
  const OpDef* const idempotent[] = {&maximum_op, &minimum_op, &logical_and_op, &logical_or_op};
  const bool is_same = std::ranges::find(idempotent, node.op) != std::end(idempotent) && node.inputs[0] == node.inputs[1];
  if (is_same) return kept(at, node, node.inputs[0]);
  return node.op == &where_op && node.inputs[1] == node.inputs[2] ? kept(at, node, node.inputs[1]) : nullptr;
}

Value* choose(Rewriting& at, const Node& node) {
  if (node.op != &where_op) return nullptr;
  const ConstantAttrs* const condition = literal_of(node.inputs[0]);
  return condition == nullptr ? nullptr : kept(at, node, node.inputs[condition->integer != 0 ? 1 : 2]);
}

// Whether every number of one dtype is a number of the other.
bool holds(Dtype wide, Dtype narrow) {
  if (wide == narrow || narrow == Dtype::b8) return true;
  switch (wide) {
    case Dtype::f64: return narrow != Dtype::i64;
    case Dtype::f32: return narrow == Dtype::f16 || narrow == Dtype::bf16 || narrow == Dtype::u8;
    case Dtype::i64: return narrow == Dtype::i32 || narrow == Dtype::u8;
    case Dtype::f16:
    case Dtype::bf16:
    case Dtype::i32: return narrow == Dtype::u8;
    default: return false;
  }
}

Value* join_casts(Rewriting& at, const Node& node) {
  if (node.op != &cast_op || !is_made_by(node.inputs[0], cast_op)) return nullptr;
  Value* const source = node.inputs[0]->node->inputs[0];
  const TensorSpec& spec = node.outputs[0]->spec;
  if (!holds(node.inputs[0]->spec.dtype, source->spec.dtype)) return nullptr;
  return source->spec.dtype == spec.dtype && source->strides.empty() ? source : at.add(cast_op, {source}, node.attrs, spec);
}

Value* multiply_instead(Rewriting& at, const Node& node) {
  if (node.op != &divide_op || literal_of(node.inputs[1]) == nullptr) return nullptr;
  const Dtype dtype = node.outputs[0]->spec.dtype;
  const double divisor = literal_of(node.inputs[1])->number;
  int exponent = 0;
  const bool is_power_of_two = std::abs(std::frexp(divisor, &exponent)) == 0.5;
  // Both are ordinary numbers of the dtype: a half's least is 2^-14.
  if (!is_power_of_two || std::abs(exponent) > (dtype == Dtype::f16 ? 12 : 100)) return nullptr;
  Value* const factor = repeated_to(at, literal(at, dtype, 1 / divisor), node.inputs[1]->spec);
  return at.add(multiply_op, {node.inputs[0], factor}, {}, node.outputs[0]->spec);
}

}  // namespace

void simplify_algebra(graph::Graph& graph, Decisions& decisions) {
  static constexpr RewriteRule rules[] = {
      {"the operand changes nothing", drop_neutral},
      {"an integer times 0", multiply_by_zero},
      {"twice is never", undo},
      {"the sign is taken along", take_sign_along},
      {"both operands are one", drop_repetition},
      {"the condition is a literal", choose},
      {"the first dtype loses nothing", join_casts},
      {"dividing by a power of two is multiplying", multiply_instead},
  };
  rewrite("simplify_algebra", graph, rules, decisions);
}

}  // namespace anyshape::passes
