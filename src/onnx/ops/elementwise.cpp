// ONNX's ops that work element by element, with its broadcasting.
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {
namespace {

constexpr RuleOptions elementwise{.is_elementwise = true};

template <Tensor (*op)(const Tensor&)>
Results unary(NodeCall& call) {
  return op(call.tensor(0));
}
template <Tensor (*op)(const Tensor&, const Tensor&)>
Results binary(NodeCall& call) {
  return op(call.tensor(0), call.tensor(1));
}

// Integers are divided towards 0.
Results div(NodeCall& call) {
  const Tensor a = call.tensor(0), b = call.tensor(1);
  if (is_floating(a.dtype())) return a / b;
  const Tensor down = floor_divide(a, b);
  return where(logical_and(down < 0, down * b != a), down + 1, down);
}

constexpr RuleEntry entries[] = {
    {"Add", 7, binary<add>, elementwise},  {"Sub", 7, binary<subtract>, elementwise}, {"Mul", 7, binary<multiply>, elementwise},
    {"Div", 7, div, elementwise},          {"Sqrt", 6, unary<sqrt>, elementwise},     {"Exp", 6, unary<exp>, elementwise},
    {"Tanh", 6, unary<tanh>, elementwise},
};

}  // namespace

const RuleTable elementwise_rules = entries;

}  // namespace anyshape::onnx
