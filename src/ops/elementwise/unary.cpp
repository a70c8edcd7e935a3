// Arithmetic of one tensor: one line per op with its name, dtype rule, scalar lowering, and derivative from g.x, g.y and g.dy.
#include "ops/elementwise/unary.h"

#include "graph/named_call.h"
#include "ops/elementwise/host_numbers.h"

namespace anyshape {
namespace {

using unary_op::define;
using unary_op::Gradient;
using unary_op::instruction;

loop::Value same(loop::Builder&, loop::Value x) { return x; }

loop::Value sign_of(loop::Builder& b, loop::Value x) {
  const auto number = [&](int64_t value) {
    return is_floating(b.type(x)) ? b.constant(b.type(x), static_cast<double>(value)) : b.constant(b.type(x), value);
  };
  const loop::Value zero = number(0);
  const loop::Value below = b.select(b.less(x, zero), number(-1), b.select(b.equal(x, zero), zero, x));  // NaN stays
  return b.select(b.less(zero, x), number(1), below);
}

loop::Value reciprocal_root(loop::Builder& b, loop::Value x) {
  return b.divide(b.constant(b.type(x), 1.0), b.unary(loop::Op::SquareRoot, x));
}

Tensor derivative_of_negative(const Gradient& g) { return -g.dy; }
Tensor derivative_of_absolute(const Gradient& g) { return g.dy * sign(g.x); }
Tensor derivative_of_sqrt(const Gradient& g) { return g.dy * 0.5 / g.y; }
Tensor derivative_of_rsqrt(const Gradient& g) { return g.dy * -0.5 * g.y / g.x; }
Tensor no_derivative(const Gradient&) { return {}; }

}  // namespace

constinit const OpDef negative_op = define<instruction<loop::Op::Negate>, derivative_of_negative>("negative", dtype_rule::promoted_number);
constinit const OpDef abs_op = define<instruction<loop::Op::Absolute>, derivative_of_absolute>(
    "abs", dtype_rule::promoted_number, {.never_negative_zero = NeverNegativeZero::Always});
constinit const OpDef sign_op = define<sign_of, unary_op::zero>("sign", dtype_rule::promoted_number, {.is_flat = true});
constinit const OpDef sqrt_op = define<instruction<loop::Op::SquareRoot>, derivative_of_sqrt>("sqrt", dtype_rule::floating);
constinit const OpDef rsqrt_op = define<reciprocal_root, derivative_of_rsqrt>("rsqrt", dtype_rule::floating);
constinit const OpDef stop_gradient_op = define<same, no_derivative>("stop_gradient", dtype_rule::any, {.is_identity = always_identity});

Tensor negative(const Tensor& x) {
  Tensor result = bind(negative_op, {x});
  if (has_host_number(x)) keep_host_number(result, -x.impl()->number);
  return result;
}
Tensor abs(const Tensor& x) { return bind(abs_op, {x}); }
Tensor sign(const Tensor& x) { return bind(sign_op, {x}); }
Tensor sqrt(const Tensor& x) { return bind(sqrt_op, {x}); }
Tensor rsqrt(const Tensor& x) { return bind(rsqrt_op, {x}); }
Tensor square(const Tensor& x) {
  const NamedCall call("square", x);
  return x * x;
}
Tensor reciprocal(const Tensor& x) {
  const NamedCall call("reciprocal", x);
  return 1 / x;
}
Tensor stop_gradient(const Tensor& x) { return bind(stop_gradient_op, {x}); }

}  // namespace anyshape
