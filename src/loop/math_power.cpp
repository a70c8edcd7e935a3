// pow, and the division of Python. pow is exp(y log x): in f64 the logarithm is a pair of numbers, since y multiplies its error; f32 is
// computed in f64.
#include "loop/math.h"
#include "loop/math_parts.h"
#include "loop/polynomial.h"

#include <limits>

namespace anyshape::loop {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Pair {
  Value high, low;
};

// a + b where |a| >= |b| or a is 0, and what the sum lost
Pair sum_of(Builder& b, Value large, Value small) {
  const Value sum = b.add(large, small);
  return {sum, b.subtract(small, b.subtract(sum, large))};
}
Pair product_of(Builder& b, Value x, Value y) {
  const Value product = b.multiply(x, y);
  return {product, b.fma(x, y, b.unary(Op::Negate, product))};
}
Pair product_of(Builder& b, const Pair& x, const Pair& y) {
  const Pair high = product_of(b, x.high, y.high);
  return {high.high, b.fma(x.high, y.low, b.fma(x.low, y.high, high.low))};
}

// log x of a positive, finite f64 with about 65 bits: x = 2^k m, s = (m - 1) / (m + 1), log m = 2 s (1 + s^2 / 3 + s^4 / 5 + ...).
Pair precise_log(Builder& b, Value x) {
  const Numbers number(b, x);
  const auto integer = [&](int64_t value) { return b.integer(value); };
  const int64_t one = f64_format.one;
  const Value bits = b.bitcast(x, Dtype::i64);
  const Value biased = b.binary(Op::ShiftRightLogical, b.add(bits, integer(one - 0x3fe6a09e667f3bcd)), integer(52));
  const Value m = b.bitcast(b.subtract(b.add(bits, integer(one)), b.binary(Op::ShiftLeft, biased, integer(52))), Dtype::f64);
  const Value k =
      b.subtract(b.bitcast(b.binary(Op::Or, biased, integer(0x4330000000000000)), Dtype::f64), number(4503599627370496.0 + 1023));
  const Value r = b.subtract(m, number(1));
  const Value d = b.add(m, number(1));
  const Value d_low = b.subtract(m, b.subtract(d, number(1)));
  const Value s_high = b.divide(r, d);
  const Value left = b.fma(b.unary(Op::Negate, s_high), d_low, b.fma(b.unary(Op::Negate, s_high), d, r));
  const Pair s = {s_high, b.divide(left, d)};
  const Pair z = product_of(b, s, s);
  const Value rest = polynomial(
      b, z.high, {1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25, 1.0 / 27});
  const Pair third = sum_of(b, number(1.0 / 3), b.multiply(z.high, rest));
  const Pair series = product_of(b, z, {third.high, b.add(third.low, number(1.850371707708594e-17))});
  const Pair twice = {b.add(s.high, s.high), b.add(s.low, s.low)};
  const Pair tail = product_of(b, twice, series);
  // The first part of ln 2 has 33 bits, so that its product with k is exact.
  const Pair large = sum_of(b, b.multiply(k, number(6.93147180369123816490e-01)), twice.high);
  const Pair sum = sum_of(b, large.high, tail.high);
  const Value low = b.fma(k, number(1.90821492927058770002e-10), b.add(b.add(large.low, sum.low), b.add(twice.low, tail.low)));
  return sum_of(b, sum.high, low);
}

// |x|^y in f64, right where x is 0 or infinite too.
Value power_f64(Builder& b, Value size, Value y) {
  const Numbers number(b, size);
  const Value is_zero = b.equal(size, number(0)), is_infinite = b.equal(size, number(infinity));
  const Pair logarithm = precise_log(b, b.select(b.binary(Op::Or, is_zero, is_infinite), number(1), size));
  const Value high = b.select(is_zero, number(-infinity), b.select(is_infinite, number(infinity), logarithm.high));
  const Value exponent = b.multiply(y, high);
  const Value lost = b.fma(y, logarithm.low, b.fma(y, high, b.unary(Op::Negate, exponent)));
  const Value power = exp(b, exponent);
  // Outside this range the result is 0, infinite or NaN already, and what was lost may be no number.
  const Value ordinary = b.less(b.unary(Op::Absolute, exponent), number(709.7));
  const Value nan = b.binary(Op::NotEqual, size, size);
  return b.select(nan, size, b.select(ordinary, b.fma(power, lost, power), power));
}

// The rest of x / y with the sign of x, exact: each iteration takes off a multiple of y with 53 bits in its quotient.
Value truncated_rest(Builder& b, Value x, Value y) {
  const Numbers number(b, x);
  Value rest = x;
  for (int iteration = 0; iteration < 2; ++iteration) {
    const Value quotient = b.unary(Op::Truncate, b.divide(rest, y));
    rest = b.fma(b.unary(Op::Negate, quotient), y, rest);
  }
  // A quotient that was rounded up takes one y too many.
  const Value crossed = b.binary(Op::Or, b.binary(Op::And, b.less(rest, number(0)), b.less(number(0), x)),
                                 b.binary(Op::And, b.less(number(0), rest), b.less(x, number(0))));
  rest = b.select(crossed, b.add(rest, with_sign_of(b, y, x)), rest);
  const Value whole =
      b.binary(Op::And, b.equal(b.unary(Op::Absolute, y), number(infinity)), b.less(b.unary(Op::Absolute, x), number(infinity)));
  return b.select(whole, x, rest);
}

struct Division {
  Value rest;   // with the sign of x
  Value apart;  // b8: the rest is not 0 and its sign is not the divisor's
};
Division divided(Builder& b, Value x, Value y) {
  const Numbers number(b, x);
  const Value rest = truncated_rest(b, x, y);
  const Value other_sign = b.binary(Op::Xor, b.less(rest, number(0)), b.less(y, number(0)));
  return {rest, b.binary(Op::And, b.binary(Op::NotEqual, rest, number(0)), other_sign)};
}

// f32 in f64, where no operation loses a bit.
template <class Body>
Value in_f64(Builder& b, Value x, Value y, const Body& body) {
  if (format_of(b, x).bits == Dtype::i64) return body(x, y);
  return b.cast(body(b.cast(x, Dtype::f64), b.cast(y, Dtype::f64)), Dtype::f32);
}

}  // namespace

Value pow(Builder& b, Value x, Value y) {
  format_of(b, x);
  const Numbers number(b, x);
  const Value size = b.unary(Op::Absolute, x);
  const Value power = b.type(x) == Dtype::f64
                          ? power_f64(b, size, y)
                          : in_f64(b, size, y, [&](Value base, Value exponent) { return exp(b, b.multiply(exponent, log(b, base))); });
  const auto is_integer = [&](Value value) { return b.equal(b.unary(Op::Truncate, value), value); };
  const Value integer = is_integer(y);
  const Value even = is_integer(b.multiply(y, number(0.5)));
  const Value one = number(1);
  // 1 and -1 to an infinite power
  const Value sized = b.select(b.binary(Op::And, b.equal(size, one), b.equal(y, y)), one, power);
  const Value odd = b.binary(Op::And, integer, b.unary(Op::Not, even));
  const Value with_sign = b.select(odd, with_sign_of(b, sized, x), sized);
  const Value undefined =
      b.binary(Op::And, b.unary(Op::Not, integer), b.binary(Op::And, b.less(x, number(0)), b.less(size, number(infinity))));
  const Value defined = b.select(undefined, number(std::numeric_limits<double>::quiet_NaN()), with_sign);
  return b.select(b.binary(Op::Or, b.equal(y, number(0)), b.equal(x, one)), one, defined);
}

Value integer_pow(Builder& b, Value x, Value y) {
  const Dtype type = b.type(x);
  const auto integer = [&](int64_t value) { return b.constant(type, value); };
  const int bits = type == Dtype::u8 ? 8 : type == Dtype::i32 ? 31 : 63;
  Value result = integer(1), square = x;
  for (int bit = 0; bit < bits; ++bit) {
    const Value used = b.equal(b.binary(Op::And, b.binary(Op::ShiftRightLogical, y, integer(bit)), integer(1)), integer(1));
    result = b.select(used, b.multiply(result, square), result);
    square = b.multiply(square, square);
  }
  if (type == Dtype::u8) return result;
  // Only 1 and -1 have a reciprocal that is an integer: themselves, and their parity is that of the exponent.
  const Value unit = b.equal(b.multiply(x, x), integer(1));
  const Value is_unit = b.binary(Op::And, unit, b.binary(Op::And, b.less(integer(-2), x), b.less(x, integer(2))));
  const Value odd = b.equal(b.binary(Op::And, y, integer(1)), integer(1));
  const Value reciprocal = b.select(is_unit, b.select(odd, x, integer(1)), integer(0));
  return b.select(b.less(y, integer(0)), reciprocal, result);
}

Value remainder(Builder& b, Value x, Value y) {
  if (!is_floating(b.type(x))) return b.binary(Op::Modulo, x, y);
  return in_f64(b, x, y, [&](Value dividend, Value divisor) {
    const Division division = divided(b, dividend, divisor);
    const Value zero = b.constant(Dtype::f64, 0.0);
    const Value rest = b.select(division.apart, b.add(division.rest, divisor), division.rest);
    return b.select(b.equal(rest, zero), with_sign_of(b, zero, divisor), rest);
  });
}

Value floor_divide(Builder& b, Value x, Value y) {
  if (!is_floating(b.type(x))) return b.floor_divide(x, y);
  return in_f64(b, x, y, [&](Value dividend, Value divisor) {
    const Numbers number(b, dividend);
    const Division division = divided(b, dividend, divisor);
    const Value plain = b.divide(dividend, divisor);
    const Value exact = b.divide(b.subtract(dividend, division.rest), divisor);
    const Value quotient = b.select(division.apart, b.subtract(exact, number(1)), exact);
    const Value floor = b.unary(Op::Floor, quotient);
    const Value nearest = b.select(b.less(number(0.5), b.subtract(quotient, floor)), b.add(floor, number(1)), floor);
    const Value result = b.select(b.equal(nearest, number(0)), with_sign_of(b, number(0), plain), nearest);
    return b.select(b.equal(divisor, number(0)), plain, result);
  });
}

}  // namespace anyshape::loop
