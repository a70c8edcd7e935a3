// ONNX's functions of one tensor, element by element.
#include "onnx/ops/narrow.h"
#include "onnx/rule.h"

#include <anyshape/ops.h>
#include <anyshape/ops/hyperbolic.h>

#include <fmt/format.h>

namespace anyshape::onnx {
namespace {

constexpr RuleOptions elementwise{.is_elementwise = true};

template <Tensor (*op)(const Tensor&)>
Results function(NodeCall& call) {
  return op(call.tensor(0));
}

// Of whole numbers of any type.
template <Tensor (*op)(const Tensor&)>
Results of_numbers(NodeCall& call) {
  if (call.type(0) == ElementType::Uint64) call.unsupported("an input of uint64");
  return wrapped(op(call.tensor(0)), call.type(0));
}

constexpr RuleEntry entries[] = {
    {"Neg", 6, of_numbers<negative>, elementwise},
    {"Abs", 6, of_numbers<abs>, elementwise},
    {"Sign", 9, of_numbers<sign>, elementwise},
    {"Floor", 6, function<floor>, elementwise},
    {"Ceil", 6, function<ceil>, elementwise},
    {"Round", 11, function<round>, elementwise},
    {"Sqrt", 6, function<sqrt>, elementwise},
    {"Reciprocal", 6, function<reciprocal>, elementwise},
    {"Exp", 6, function<exp>, elementwise},
    {"Log", 6, function<log>, elementwise},
    {"Erf", 9, function<erf>, elementwise},
    {"Sin", 7, function<sin>, elementwise},
    {"Cos", 7, function<cos>, elementwise},
    {"Tan", 7, function<tan>, elementwise},
    {"Asin", 7, function<asin>, elementwise},
    {"Acos", 7, function<acos>, elementwise},
    {"Atan", 7, function<atan>, elementwise},
    {"Sinh", 9, function<sinh>, elementwise},
    {"Cosh", 9, function<cosh>, elementwise},
    {"Tanh", 6, function<tanh>, elementwise},
    {"Asinh", 9, function<asinh>, elementwise},
    {"Acosh", 9, function<acosh>, elementwise},
    {"Atanh", 9, function<atanh>, elementwise},
    {"IsNaN", 9, function<is_nan>, elementwise},
};

}  // namespace

const RuleTable function_rules = entries;

}  // namespace anyshape::onnx
