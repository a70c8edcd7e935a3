// Elementwise arithmetic of two tensors that broadcast: one line per op with its scalar instruction and its two derivatives.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/all_ops.h"

#include <anyshape/ops.h>

namespace anyshape {
namespace {

struct BinaryGradient {
  const Tensor& a;
  const Tensor& b;
  const Tensor& y;
  const Tensor& dy;
};

Specs shape(OpCall& call) { return {{call.inputs[0].dtype, call.broadcast(), {}}}; }

template <loop::Op scalar>
loop::Value element(ElementCall& call) {
  return call.b.binary(scalar, call.operand(0), call.operand(1));
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

template <loop::Op scalar, auto derivative_a, auto derivative_b>
constexpr OpDef binary(std::string_view name, DtypeRule dtype) {
  return {.name = name,
          .kind = OpKind::Elementwise,
          .inputs = 2,
          .dtype = dtype,
          .shape = shape,
          .ragged = RaggedPolicy::Values,
          .gradient = gradient<derivative_a, derivative_b>,
          .element = element<scalar>};
}

Tensor same(const BinaryGradient& g) { return g.dy; }
Tensor negated(const BinaryGradient& g) { return -g.dy; }
Tensor times_a(const BinaryGradient& g) { return g.dy * g.a; }
Tensor times_b(const BinaryGradient& g) { return g.dy * g.b; }
Tensor quotient_a(const BinaryGradient& g) { return g.dy / g.b; }
Tensor quotient_b(const BinaryGradient& g) { return -(g.dy * g.y) / g.b; }
// Of two equal numbers the first is taken, and so it has the gradient.
Tensor maximum_a(const BinaryGradient& g) { return where(g.a >= g.b, g.dy, 0); }
Tensor maximum_b(const BinaryGradient& g) { return where(g.a >= g.b, 0, g.dy); }

}  // namespace

constinit const OpDef add_op = binary<loop::Op::Add, same, same>("add", dtype_rule::promoted_number);
constinit const OpDef subtract_op = binary<loop::Op::Subtract, same, negated>("subtract", dtype_rule::promoted_number);
constinit const OpDef multiply_op = binary<loop::Op::Multiply, times_b, times_a>("multiply", dtype_rule::promoted_number);
constinit const OpDef divide_op = binary<loop::Op::Divide, quotient_a, quotient_b>("divide", dtype_rule::floating);
constinit const OpDef maximum_op = binary<loop::Op::Maximum, maximum_a, maximum_b>("maximum", dtype_rule::promoted_number);

Tensor add(const Tensor& a, const Tensor& b) { return bind(add_op, {a, b}); }
Tensor subtract(const Tensor& a, const Tensor& b) { return bind(subtract_op, {a, b}); }
Tensor multiply(const Tensor& a, const Tensor& b) { return bind(multiply_op, {a, b}); }
Tensor divide(const Tensor& a, const Tensor& b) { return bind(divide_op, {a, b}); }
Tensor maximum(const Tensor& a, const Tensor& b) { return bind(maximum_op, {a, b}); }

}  // namespace anyshape
