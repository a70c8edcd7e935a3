// exp, log, tanh and sigmoid as straight lines of instructions: no table, no branch, and no conversion where adding a magic number rounds.
// The polynomials are minimax fits (Remez) of the function named beside them; the division form of the f64 logarithm is fdlibm's.
#include "loop/math.h"

#include <anyshape/error.h>

#include <limits>

#include "loop/math_parts.h"
#include "loop/polynomial.h"

namespace anyshape::loop {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double log2_e = 1.4426950408889634;

}  // namespace

const Format& format_of(const Builder& b, Value x) {
  if (b.type(x) == Dtype::f32) return f32_format;
  if (b.type(x) == Dtype::f64) return f64_format;
  throw InternalError("loop: a function of a value that is neither f32 nor f64; expected a cast before it.");
}

namespace {

// The exponent is that of n + bias.
Reduced reduce_biased(Builder& b, Value x, int64_t bias) {
  const Format& format = format_of(b, x);
  const Dtype type = b.type(x);
  const Value magic = b.constant(type, format.magic + static_cast<double>(bias));
  const Value shifted = b.fma(x, b.constant(type, log2_e), magic);
  const Value n = b.subtract(shifted, magic);
  Value rest = b.fma(n, b.constant(type, -format.ln2_high), x);
  rest = b.fma(n, b.constant(type, -format.ln2_low), rest);
  // The shift drops all of the magic number and keeps the low bits, which are n modulo a power of two.
  const Value exponent = b.binary(Op::ShiftLeft, b.bitcast(shifted, format.bits), b.constant(format.bits, format.mantissa));
  return {rest, exponent};
}

}  // namespace

Reduced reduce_exponent(Builder& b, Value x) { return reduce_biased(b, x, 0); }

ReducedInRange reduce_in_range(Builder& b, Value x) {
  const Format& format = format_of(b, x);
  const Reduced reduced = reduce_biased(b, x, format.one >> format.mantissa);
  return {reduced.rest, b.bitcast(reduced.exponent, b.type(x))};
}

// (exp(r) - 1 - r) / r^2 on |r| <= ln 2 / 2
Value exp_tail(Builder& b, Value r) {
  if (b.type(r) == Dtype::f32) {
    return polynomial(b, r, {0.49999993432290163, 0.1666652039604168, 0.041668390725713725, 0.008368745386712964, 0.001381454414522867});
  }
  return polynomial(b, r,
                    {0.5, 0.16666666666666677, 0.041666666666666505, 0.008333333333321653, 0.0013888888888962617, 0.000198412698860735,
                     2.480158717220584e-05, 2.755724425406246e-06, 2.7557402793665017e-07, 2.5109024529480856e-08, 2.087532423400455e-09});
}

Value with_sign_of(Builder& b, Value size, Value x) {
  const Format& format = format_of(b, x);
  const Value sign_bit = b.bitcast(b.constant(b.type(x), -0.0), format.bits);
  const Value sign = b.binary(Op::And, b.bitcast(x, format.bits), sign_bit);
  return b.bitcast(b.binary(Op::Or, b.bitcast(b.unary(Op::Absolute, size), format.bits), sign), b.type(x));
}

namespace {

// exp(r) on |r| <= ln 2 / 2
Value exp_near_zero(Builder& b, Value r) {
  const Value one = b.constant(b.type(r), 1.0);
  return b.fma(b.fma(exp_tail(b, r), r, one), r, one);
}

// (log(1 + r) - r + r^2 / 2) / r^3 on sqrt(1/2) <= 1 + r <= sqrt(2)
Value log_f32(Builder& b, Value x) {
  const auto integer = [&](int64_t value) { return b.constant(Dtype::i32, value); };
  const auto number = [&](double value) { return b.constant(Dtype::f32, value); };
  const Value bits = b.bitcast(x, Dtype::i32);
  const Value exponent = b.binary(Op::ShiftRight, b.subtract(bits, integer(0x3f3504f3)), integer(23));  // relative to sqrt(1/2)
  const Value mantissa = b.bitcast(b.subtract(bits, b.binary(Op::ShiftLeft, exponent, integer(23))), Dtype::f32);
  const Value r = b.subtract(mantissa, number(1));
  const Value k = b.cast(exponent, Dtype::f32);
  Value p = polynomial(b, r,
                       {-0.5, 0.3333333170849906, -0.25000821014964963, 0.20001226768649052, -0.16623357792673266, 0.14201760238496489,
                        -0.13160180879055675, 0.1276156432924582, -0.07634486245986909});
  p = b.fma(p, b.multiply(r, r), r);
  p = b.fma(k, number(f32_format.ln2_low), p);
  return b.fma(k, number(f32_format.ln2_high), p);
}

Value log_f64(Builder& b, Value x) {
  const auto integer = [&](int64_t value) { return b.integer(value); };
  const auto number = [&](double value) { return b.constant(Dtype::f64, value); };
  const int64_t one = f64_format.one;
  const Value bits = b.bitcast(x, Dtype::i64);
  // The exponent keeps its bias, so that a logical shift and a magic number do what an arithmetic shift and a conversion would.
  const Value biased = b.binary(Op::ShiftRightLogical, b.add(bits, integer(one - 0x3fe6a09e667f3bcd)), integer(52));
  const Value mantissa = b.bitcast(b.subtract(b.add(bits, integer(one)), b.binary(Op::ShiftLeft, biased, integer(52))), Dtype::f64);
  const Value k =
      b.subtract(b.bitcast(b.binary(Op::Or, biased, integer(0x4330000000000000)), Dtype::f64), number(4503599627370496.0 + 1023));
  const Value r = b.subtract(mantissa, number(1));
  const Value s = b.divide(r, b.add(r, number(2)));
  const Value z = b.multiply(s, s);
  const Value tail =
      b.multiply(z, polynomial(b, z,
                               {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
                                1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01}));
  const Value half_square = b.multiply(b.multiply(r, number(0.5)), r);
  const Value low = b.fma(s, b.add(half_square, tail), b.multiply(k, number(1.90821492927058770002e-10)));
  return b.fma(k, number(6.93147180369123816490e-01), b.subtract(r, b.subtract(half_square, low)));
}

}  // namespace

Value exp(Builder& b, Value x) {
  const Format& format = format_of(b, x);
  const Dtype type = b.type(x);
  const Reduced reduced = reduce_exponent(b, x);
  const Value power = exp_near_zero(b, reduced.rest);
  const Value scaled = b.bitcast(b.add(b.bitcast(power, format.bits), reduced.exponent), type);
  const Value in_range = b.select(b.less(x, b.constant(type, format.exp_lowest)), b.constant(type, 0.0), scaled);
  // x + infinity is infinity for the large and NaN for NaN.
  const Value beyond = b.add(x, b.constant(type, infinity));
  return b.select(b.binary(Op::LessEqual, x, b.constant(type, format.exp_highest)), in_range, beyond);
}

// A product, not a sum of exponents, so that NaN stays NaN; of minus infinity the rest is NaN, and not chosen.
Value exp_at_most_zero(Builder& b, Value x) {
  const Format& format = format_of(b, x);
  const Numbers number(b, x);
  const ReducedInRange reduced = reduce_in_range(b, x);
  const Value scaled = b.multiply(exp_near_zero(b, reduced.rest), reduced.scale);
  return b.select(b.less(x, number(format.exp_lowest)), number(0), scaled);
}

Value log(Builder& b, Value x) {
  const Dtype type = b.type(x);
  format_of(b, x);
  const Value zero = b.constant(type, 0.0);
  const Value infinite = b.constant(type, infinity);
  const Value finite = b.select(b.less(x, infinite), type == Dtype::f32 ? log_f32(b, x) : log_f64(b, x), infinite);
  const Value nan = b.constant(type, std::numeric_limits<double>::quiet_NaN());
  return b.select(b.less(zero, x), finite, b.select(b.equal(x, zero), b.constant(type, -infinity), nan));
}

// With e = exp(-2|x|) - 1, which keeps its relative accuracy near 0, tanh|x| is -e / (2 + e).
Value tanh(Builder& b, Value x) {
  const Dtype type = b.type(x);
  const Value size = b.unary(Op::Absolute, x);
  const Value most = b.constant(type, type == Dtype::f32 ? 10.0 : 20.0);  // from here on the result is 1
  const Value limited = b.select(b.less(most, size), most, size);
  const auto [r, scale] = reduce_in_range(b, b.multiply(limited, b.constant(type, -2.0)));
  const Value small = b.fma(exp_tail(b, r), b.multiply(r, r), r);  // exp(r) - 1
  const Value e = b.fma(small, scale, b.subtract(scale, b.constant(type, 1.0)));
  const Value positive = b.divide(e, b.subtract(b.constant(type, -2.0), e));
  return with_sign_of(b, positive, x);
}

// 1 / (1 + exp(-x)). Between the limits the power of two is a normal number; at the upper one the result is a denormal and flushed to 0, at the
// lower one it is 1, as it is beyond. The power is multiplied, not added to the exponent's bits, so that NaN stays NaN.
Value sigmoid(Builder& b, Value x) {
  const Format& format = format_of(b, x);
  const Dtype type = b.type(x);
  const Value one = b.constant(type, 1.0);
  const Value most = b.constant(type, -format.exp_lowest), least = b.constant(type, type == Dtype::f32 ? -88.0 : -709.0);
  Value limited = b.select(b.less(most, x), most, x);
  limited = b.select(b.less(limited, least), least, limited);
  const ReducedInRange reduced = reduce_in_range(b, b.unary(Op::Negate, limited));
  return b.divide(one, b.fma(exp_near_zero(b, reduced.rest), reduced.scale, one));
}

}  // namespace anyshape::loop
