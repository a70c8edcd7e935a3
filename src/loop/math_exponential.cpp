// expm1, log1p, sinh, cosh and softplus: what is left of an exponential or a logarithm when its leading part cancels.
#include "loop/math.h"
#include "loop/math_parts.h"

#include <limits>

namespace anyshape::loop {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// exp(x) - 1 where |x| is at most 60.
Value expm1_in_range(Builder& b, Value x) {
  const Numbers number(b, x);
  const auto [r, scale] = reduce_in_range(b, x);
  const Value small = b.fma(exp_tail(b, r), b.multiply(r, r), r);
  return b.fma(small, scale, b.subtract(scale, number(1)));
}

}  // namespace

Value expm1(Builder& b, Value x) {
  const Numbers number(b, x);
  const double most = b.type(x) == Dtype::f32 ? 20 : 45;  // beyond it the 1 is less than half a unit of the last place
  const Value inside = b.binary(Op::LessEqual, b.unary(Op::Absolute, x), number(most));
  const Value outside = b.select(b.less(x, number(0)), number(-1), exp(b, x));  // NaN is not less and stays
  return with_sign_of(b, b.select(inside, expm1_in_range(b, b.select(inside, x, number(0))), outside), x);
}

// With u = 1 + x rounded, log u misses what the rounding dropped; divided by u that is its share of the logarithm.
Value log1p(Builder& b, Value x) {
  const Numbers number(b, x);
  const Value u = b.add(number(1), x);
  const Value kept = b.subtract(u, number(1));
  // Where 1 is the smaller part of the sum it is the one that loses bits.
  const Value dropped = b.select(b.less(number(1), x), b.subtract(number(1), b.subtract(u, x)), b.subtract(x, kept));
  const Value sum = b.add(log(b, u), b.divide(dropped, u));
  const Value inside = b.binary(Op::And, b.less(number(-1), x), b.less(x, number(infinity)));
  const Value result = b.select(inside, sum, log(b, u));
  // Signs agree for every number in the domain; what is outside has no sign to keep.
  return b.select(inside, with_sign_of(b, result, x), result);
}

// With e = exp|x| - 1, sinh|x| is (e + e / (e + 1)) / 2. Where exp overflows before sinh does, the square of exp(|x| / 2) stands in.
Value sinh(Builder& b, Value x) {
  const Numbers number(b, x);
  const Value size = b.unary(Op::Absolute, x);
  const Value e = expm1(b, size);
  const Value near = b.multiply(number(0.5), b.add(e, b.divide(e, b.add(e, number(1)))));
  const Value root = exp(b, b.multiply(size, number(0.5)));
  const Value far = b.multiply(b.multiply(root, number(0.5)), root);
  const double most = b.type(x) == Dtype::f32 ? 88 : 709;
  return with_sign_of(b, b.select(b.less(size, number(most)), near, far), x);
}

Value cosh(Builder& b, Value x) {
  const Numbers number(b, x);
  const Value size = b.unary(Op::Absolute, x);
  const Value e = exp(b, size);
  const Value near = b.fma(number(0.5), e, b.divide(number(0.5), e));
  const Value root = exp(b, b.multiply(size, number(0.5)));
  const Value far = b.multiply(b.multiply(root, number(0.5)), root);
  const double most = b.type(x) == Dtype::f32 ? 88 : 709;
  return b.select(b.less(size, number(most)), near, far);
}

// max(x, 0) + log(1 + exp(-|x|)): the exponential is at most 1.
Value softplus(Builder& b, Value x) {
  const Numbers number(b, x);
  const Value tail = log1p(b, exp_at_most_zero(b, b.unary(Op::Negate, b.unary(Op::Absolute, x))));
  return b.add(b.maximum(x, number(0)), tail);
}

}  // namespace anyshape::loop
