// Elementwise arithmetic of two tensors that broadcast: one line per op with its scalar and its two derivatives.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "loop/element.h"
#include "loop/math.h"
#include "ops/all_ops.h"
#include "ops/elementwise/host_numbers.h"
#include "tensor/tensor_impl.h"

#include <anyshape/ops.h>

#include <functional>

namespace anyshape {
namespace {

struct BinaryGradient {
  const Tensor& a;
  const Tensor& b;
  const Tensor& y;
  const Tensor& dy;
};

Specs shape(OpCall& call) { return {{call.inputs[0].dtype, call.broadcast(), {}}}; }

template <loop::Op op>
loop::Value instruction(loop::Builder& b, loop::Value x, loop::Value y) {
  return b.binary(op, x, y);
}

loop::Value power(loop::Builder& b, loop::Value x, loop::Value y) {
  return is_floating(b.type(x)) ? loop::pow(b, x, y) : loop::integer_pow(b, x, y);
}

// What broadcasting repeated is summed again, so that a gradient has its input's shape.
template <auto derivative_a, auto derivative_b>
std::vector<Tensor> gradient(const GradientCall& call) {
  const BinaryGradient g{call.inputs[0], call.inputs[1], call.outputs[0], call.dys[0]};
  std::vector<Tensor> result(2);
  if (call.needed[0]) result[0] = sum_to(derivative_a(g), g.a.shape());
  if (call.needed[1]) result[1] = sum_to(derivative_b(g), g.b.shape());
  return result;
}

template <auto scalar, auto derivative_a, auto derivative_b>
constexpr OpDef binary(std::string_view name, DtypeRule dtype, OpTraits traits = {}) {
  return {.name = name,
          .kind = OpKind::Elementwise,
          .inputs = 2,
          .dtype = dtype,
          .shape = shape,
          .ragged = RaggedPolicy::Values,
          .gradient = gradient<derivative_a, derivative_b>,
          .element =
              [](ElementCall& call) {
                const auto [a, b] = call.operands();
                return scalar(call.b, a, b);
              },
          .traits = traits};
}

Tensor same(const BinaryGradient& g) { return g.dy; }
Tensor negated(const BinaryGradient& g) { return -g.dy; }
Tensor zero(const BinaryGradient& g) { return zeros(g.dy.shape(), {.dtype = g.dy.dtype()}); }
Tensor times_a(const BinaryGradient& g) { return g.dy * g.a; }
Tensor times_b(const BinaryGradient& g) { return g.dy * g.b; }
Tensor quotient_a(const BinaryGradient& g) { return g.dy / g.b; }
Tensor quotient_b(const BinaryGradient& g) { return -(g.dy * g.y) / g.b; }
// Of two equal numbers the first is taken, and so it has the gradient.
Tensor maximum_a(const BinaryGradient& g) { return where(g.a >= g.b, g.dy, 0); }
Tensor maximum_b(const BinaryGradient& g) { return where(g.a >= g.b, 0, g.dy); }
Tensor minimum_a(const BinaryGradient& g) { return where(g.a <= g.b, g.dy, 0); }
Tensor minimum_b(const BinaryGradient& g) { return where(g.a <= g.b, 0, g.dy); }
// x^0 is 1 everywhere, so its slope is 0 even where x^-1 is infinite.
Tensor power_a(const BinaryGradient& g) { return where(g.b == 0, 0, g.dy * g.b * pow(g.a, g.b - 1)); }
// Without a logarithm there is no slope; inside the choice nothing may become NaN, since 0 times NaN is NaN.
Tensor power_b(const BinaryGradient& g) { return where(g.a > 0, g.dy * g.y * log(where(g.a > 0, g.a, 1)), 0); }
Tensor angle_a(const BinaryGradient& g) { return g.dy * g.b / (g.a * g.a + g.b * g.b); }
Tensor angle_b(const BinaryGradient& g) { return -(g.dy * g.a) / (g.a * g.a + g.b * g.b); }
Tensor remainder_b(const BinaryGradient& g) { return -g.dy * floor_divide(g.a, g.b); }

}  // namespace

using loop::Op;
// -0 + -0 alone gives -0.
constinit const OpDef add_op =
    binary<instruction<Op::Add>, same, same>("add", dtype_rule::promoted_number, {.never_negative_zero = NeverNegativeZero::WithOneInput});
constinit const OpDef subtract_op =
    binary<instruction<Op::Subtract>, same, negated>("subtract", dtype_rule::promoted_number, {.is_difference = true});
constinit const OpDef multiply_op = binary<instruction<Op::Multiply>, times_b, times_a>(
    "multiply", dtype_rule::promoted_number, {.never_negative_zero = NeverNegativeZero::WithEqualInputs});
constinit const OpDef divide_op = binary<instruction<Op::Divide>, quotient_a, quotient_b>("divide", dtype_rule::floating);
constinit const OpDef maximum_op = binary<instruction<Op::Maximum>, maximum_a, maximum_b>("maximum", dtype_rule::promoted_number);
constinit const OpDef minimum_op = binary<instruction<Op::Minimum>, minimum_a, minimum_b>("minimum", dtype_rule::promoted_number);
constinit const OpDef pow_op = binary<power, power_a, power_b>("pow", dtype_rule::promoted_number);
constinit const OpDef atan2_op = binary<loop::atan2, angle_a, angle_b>("atan2", dtype_rule::floating);
constinit const OpDef remainder_op = binary<loop::remainder, same, remainder_b>("remainder", dtype_rule::promoted_number);
constinit const OpDef floor_divide_op =
    binary<loop::floor_divide, zero, zero>("floor_divide", dtype_rule::promoted_number, {.is_flat = true});

Tensor add(const Tensor& a, const Tensor& b) { return with_host_number(bind(add_op, {a, b}), a, b, std::plus<>()); }
Tensor subtract(const Tensor& a, const Tensor& b) { return with_host_number(bind(subtract_op, {a, b}), a, b, std::minus<>()); }
Tensor multiply(const Tensor& a, const Tensor& b) { return with_host_number(bind(multiply_op, {a, b}), a, b, std::multiplies<>()); }
Tensor divide(const Tensor& a, const Tensor& b) { return with_host_number(bind(divide_op, {a, b}), a, b, std::divides<>()); }
Tensor maximum(const Tensor& a, const Tensor& b) { return bind(maximum_op, {a, b}); }
Tensor minimum(const Tensor& a, const Tensor& b) { return bind(minimum_op, {a, b}); }
// A square needs no logarithm.
Tensor pow(const Tensor& a, const Tensor& b) {
  const NamedCall call("pow", a, b);
  const bool is_literal = a.defined() && b.defined() && b.impl()->weak && !a.impl()->weak && b.item<double>() == 2;
  const bool keeps_dtype = is_literal && a.dtype() != Dtype::b8 && (is_floating(a.dtype()) || !is_floating(b.dtype()));
  return keeps_dtype ? multiply(a, a) : bind(pow_op, {a, b});
}
Tensor atan2(const Tensor& y, const Tensor& x) { return bind(atan2_op, {y, x}); }
Tensor remainder(const Tensor& a, const Tensor& b) { return bind(remainder_op, {a, b}); }
Tensor floor_divide(const Tensor& a, const Tensor& b) { return bind(floor_divide_op, {a, b}); }
Tensor clip(const Tensor& x, const Tensor& lowest, const Tensor& highest) {
  const NamedCall call("clip", x, lowest, highest);
  return minimum(maximum(x, lowest), highest);
}

}  // namespace anyshape
