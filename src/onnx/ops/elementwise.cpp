// ONNX's ops that work element by element, with its broadcasting: arithmetic, comparisons, logic, choices.
#include "onnx/ops/narrow.h"
#include "onnx/rule.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape::onnx {
namespace {

constexpr RuleOptions elementwise{.is_elementwise = true};

template <Tensor (*op)(const Tensor&, const Tensor&)>
Results arithmetic(NodeCall& call) {
  return wrapped(op(call.tensor(0), call.tensor(1)), call.type(0));
}
template <Tensor (*op)(const Tensor&, const Tensor&)>
Results comparison(NodeCall& call) {
  return op(ordered(call.tensor(0), call.type(0)), ordered(call.tensor(1), call.type(0)));
}
template <Tensor (*op)(const Tensor&, const Tensor&)>
Results logical(NodeCall& call) {
  return op(call.tensor(0), call.tensor(1));
}
Results not_rule(NodeCall& call) { return logical_not(call.tensor(0)); }

Results div(NodeCall& call) { return wrapped(divided(call.tensor(0), call.tensor(1), call.type(0)), call.type(0)); }

Results mod(NodeCall& call) {
  const Tensor a = call.tensor(0), b = call.tensor(1);
  const bool is_unsigned = call.type(0) == ElementType::Uint64;
  if (call.flag("fmod") || is_unsigned) return wrapped(cut_remainder(a, b, call.type(0)), call.type(0));
  return wrapped(remainder(a, b), call.type(0));
}

// The base says which type the result has; whole numbers with a broken exponent are computed in f64.
Results pow_rule(NodeCall& call) {
  const Tensor x = call.tensor(0), y = call.tensor(1);
  const ElementType type = call.type(0);
  if (!is_floating(x.dtype())) {
    if (!is_floating(y.dtype())) return wrapped(cast(pow(x, y), x.dtype()), type);
    return wrapped(cast(pow(cast(x, f64), cast(y, f64)), x.dtype()), type);
  }
  const Dtype dtype = x.dtype() == f64 ? f64 : f32;
  return cast(pow(cast(x, dtype), cast(y, dtype)), x.dtype());
}

// Of all inputs, one after the other.
template <class Fold>
Tensor folded(NodeCall& call, Fold fold) {
  if (call.inputs() == 0) call.fail("there are no inputs", "at least one");
  Tensor result = call.tensor(0);
  for (size_t i = 1; i < call.inputs(); ++i) result = fold(result, call.tensor(i));
  return result;
}
template <Tensor (*op)(const Tensor&, const Tensor&)>
Results extreme(NodeCall& call) {
  const ElementType type = call.type(0);
  return Value(folded(call, [&](const Tensor& a, const Tensor& b) { return ordered(op(ordered(a, type), ordered(b, type)), type); }), type);
}
Results sum_rule(NodeCall& call) { return folded(call, add); }
Results mean_rule(NodeCall& call) { return folded(call, add) / static_cast<double>(call.inputs()); }

// Bounds are attributes up to opset 10, then inputs that may be left out.
Results clip_rule(NodeCall& call) {
  Tensor x = call.tensor(0);
  const ElementType type = call.type(0);
  if (call.opset() < 11) {
    if (call.has("min")) x = maximum(x, call.number("min", 0));
    if (call.has("max")) x = minimum(x, call.number("max", 0));
    return x;
  }
  x = ordered(x, type);
  if (call.has(1)) x = maximum(x, ordered(call.tensor(1), type));
  if (call.has(2)) x = minimum(x, ordered(call.tensor(2), type));
  return Value(ordered(x, type), type);
}

Results where_rule(NodeCall& call) { return Value(where(call.tensor(0), call.tensor(1), call.tensor(2)), call.type(1)); }

Results is_inf_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const bool negative = call.flag("detect_negative", true), positive = call.flag("detect_positive", true);
  if (negative && positive) return is_inf(x);
  if (!negative && !positive) return zeros_like(x, {.dtype = b8});
  return logical_and(is_inf(x), negative ? x < 0 : x > 0);
}

Results binarizer_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  return cast(x > call.number("threshold", 0), x.dtype());
}

constexpr RuleEntry entries[] = {
    {"Add", 7, arithmetic<add>, elementwise},
    {"Sub", 7, arithmetic<subtract>, elementwise},
    {"Mul", 7, arithmetic<multiply>, elementwise},
    {"Div", 7, div, elementwise},
    {"Mod", 10, mod, elementwise},
    {"Pow", 7, pow_rule, elementwise},
    {"Max", 6, extreme<maximum>, elementwise},
    {"Min", 6, extreme<minimum>, elementwise},
    {"Sum", 6, sum_rule, elementwise},
    {"Mean", 6, mean_rule, elementwise},
    {"Equal", 7, comparison<equal>, elementwise},
    {"Less", 7, comparison<less>, elementwise},
    {"LessOrEqual", 12, comparison<less_equal>, elementwise},
    {"Greater", 7, comparison<greater>, elementwise},
    {"GreaterOrEqual", 12, comparison<greater_equal>, elementwise},
    {"And", 7, logical<logical_and>, elementwise},
    {"Or", 7, logical<logical_or>, elementwise},
    {"Xor", 7, logical<logical_xor>, elementwise},
    {"Not", 1, not_rule, elementwise},
    {"Clip", 6, clip_rule, elementwise},
    {"Where", 9, where_rule, elementwise},
    {"IsInf", 10, is_inf_rule, elementwise},
    {"Binarizer", 1, binarizer_rule, elementwise, "ai.onnx.ml"},
};

}  // namespace

const RuleTable elementwise_rules = entries;

}  // namespace anyshape::onnx
