// sin, cos and tan: the argument less a multiple of a quarter turn, in f64 for both types, and two polynomials on an eighth of a turn.
#include "loop/math.h"
#include "loop/math_parts.h"
#include "loop/polynomial.h"

#include <limits>

namespace anyshape::loop {
namespace {

// x = (number of quarter turns) * pi / 2 + rest, |rest| a little over pi / 4 at most.
struct Turned {
  Value high, low;  // the rest in the type of x; f32 has no low part
  Value quarter;    // i64; its last two bits count
};

// Quarter turns by the magic number. The first difference is exact: both sides are multiples of the same small power of two.
Turned turn_f64(Builder& b, Value x) {
  const Numbers number(b, x);
  const Value magic = number(f64_format.magic);
  const Value shifted = b.fma(x, number(0.63661977236758138), magic);
  const Value n = b.subtract(shifted, magic);
  const Value first = b.fma(n, number(-1.5707963267948966), x);
  const Value product = b.multiply(n, number(6.123233995736766e-17));
  const Value product_low = b.fma(n, number(6.123233995736766e-17), b.unary(Op::Negate, product));
  const Value difference = b.subtract(first, product);
  const Value back = b.subtract(first, difference);
  const Value lost = b.add(b.subtract(first, b.add(difference, back)), b.subtract(back, product));
  const Value low = b.fma(n, number(1.4973849048591833e-33), b.subtract(lost, product_low));
  const Value high = b.add(difference, low);
  return {high, b.subtract(low, b.subtract(high, difference)), b.bitcast(shifted, Dtype::i64)};
}

// The rest of an f32 beyond the limit, m 2^e with 24 bits in m: m times a window of the bits of 1 / (2 pi) that begins at bit e, as a
// fraction of a turn in 64 bits. Whole turns fall off the top.
Turned turn_by_window(Builder& b, Value x) {
  constexpr int64_t words[] = {0x28be60db, 0x9391054a, 0x7f09d5f4, 0x7d4d3770, 0x36d8a566, 0x4f10e410, 0x7f9458ea};
  const auto integer = [&](int64_t value) { return b.integer(value); };
  const Value bits = b.cast(b.bitcast(b.unary(Op::Absolute, x), Dtype::i32), Dtype::i64);
  const Value exponent = b.subtract(b.binary(Op::ShiftRightLogical, bits, integer(23)), integer(150));
  const Value mantissa = b.binary(Op::Or, b.binary(Op::And, bits, integer(0x7fffff)), integer(0x800000));
  const Value from = b.binary(Op::ShiftRight, exponent, integer(5));
  const Value shift = b.binary(Op::And, exponent, integer(31));
  Value word[4];
  for (int k = 0; k < 4; ++k) {
    word[k] = integer(words[k]);
    for (int64_t first = 1; first < 4; ++first) word[k] = b.select(b.equal(from, integer(first)), integer(words[first + k]), word[k]);
  }
  const auto joined = [&](Value high, Value low) { return b.binary(Op::Or, b.binary(Op::ShiftLeft, high, integer(32)), low); };
  const Value spill = b.binary(Op::ShiftRightLogical, word[2], b.subtract(integer(32), shift));
  const Value window = b.binary(Op::Or, b.binary(Op::ShiftLeft, joined(word[0], word[1]), shift), spill);
  const Value next = b.binary(Op::ShiftRightLogical, b.binary(Op::ShiftLeft, joined(word[2], word[3]), shift), integer(32));
  const Value fraction = b.add(b.multiply(mantissa, window), b.binary(Op::ShiftRightLogical, b.multiply(mantissa, next), integer(32)));
  const Value quarter = b.binary(Op::ShiftRightLogical, b.add(fraction, integer(int64_t{1} << 61)), integer(62));
  const Value rest = b.subtract(fraction, b.binary(Op::ShiftLeft, quarter, integer(62)));
  const Value angle = b.multiply(b.cast(rest, Dtype::f64), b.constant(Dtype::f64, 3.4061215800308475e-19));  // 2 pi / 2^64
  const Value negative = b.less(x, b.constant(Dtype::f32, 0.0));
  return {b.select(negative, b.unary(Op::Negate, angle), angle), {}, b.select(negative, b.unary(Op::Negate, quarter), quarter)};
}

Turned turn_f32(Builder& b, Value x) {
  const Turned near = turn_f64(b, b.cast(x, Dtype::f64));
  const Turned far = turn_by_window(b, x);
  const Value is_far = b.less(b.constant(Dtype::f32, trigonometry_limit), b.unary(Op::Absolute, x));
  return {b.cast(b.select(is_far, far.high, near.high), Dtype::f32), {}, b.select(is_far, far.quarter, near.quarter)};
}

// On |r| <= pi / 4, with r = high + low.
Value sin_of_rest(Builder& b, const Turned& r) {
  const Numbers number(b, r.high);
  const Value z = b.multiply(r.high, r.high);
  const Value cube = b.multiply(r.high, z);
  if (!r.low) {
    return b.fma(cube, polynomial(b, z, {-0.16666666663379429, 0.008333331692944517, -0.00019839990300864633, 2.7237652391518454e-06}),
                 r.high);
  }
  const Value tail = polynomial(b, z,
                                {-0.16666666666666666, 0.008333333333333331, -0.00019841269841264022, 2.755731921854434e-06,
                                 -2.5052105961864025e-08, 1.6058489580850212e-10, -7.584267861753613e-13});
  const Value slope = b.fma(z, number(-0.5), number(1));
  return b.add(r.high, b.fma(cube, tail, b.multiply(r.low, slope)));
}

Value cos_of_rest(Builder& b, const Turned& r) {
  const Numbers number(b, r.high);
  const Value z = b.multiply(r.high, r.high);
  const Value half = b.multiply(z, number(0.5));
  const Value first = b.subtract(number(1), half);
  const Value lost = b.subtract(b.subtract(number(1), first), half);
  if (!r.low) {
    const Value tail = polynomial(b, z, {0.041666664412128934, -0.0013888255565254143, 2.45378519801996e-05});
    return b.add(first, b.fma(b.multiply(z, z), tail, lost));
  }
  const Value tail = polynomial(b, z,
                                {0.041666666666666664, -0.0013888888888888887, 2.4801587301584066e-05, -2.7557319220960816e-07,
                                 2.0876755640609994e-09, -1.147043751075987e-11, 4.744521043716854e-14});
  const Value correction = b.fma(b.multiply(z, z), tail, b.unary(Op::Negate, b.multiply(r.high, r.low)));
  return b.add(first, b.add(lost, correction));
}

struct Parts {
  Value sin, cos;  // of the rest
  Value odd;       // b8: an odd number of quarter turns, where the two are swapped
  Value quarter;   // i64
  Value inside;    // b8: the argument is finite and within the limit
};

Parts parts(Builder& b, Value x) {
  const bool wide = b.type(x) == Dtype::f64;
  format_of(b, x);
  const Turned turned = wide ? turn_f64(b, x) : turn_f32(b, x);
  const Value limit = b.constant(b.type(x), wide ? trigonometry_limit : std::numeric_limits<float>::max());
  const Value inside = b.binary(Op::LessEqual, b.unary(Op::Absolute, x), limit);
  const Value odd = b.equal(b.binary(Op::And, turned.quarter, b.integer(1)), b.integer(1));
  return {sin_of_rest(b, turned), cos_of_rest(b, turned), odd, turned.quarter, inside};
}

Value negated_where(Builder& b, Value condition, Value x) { return b.select(condition, b.unary(Op::Negate, x), x); }

Value or_nan(Builder& b, Value inside, Value result) {
  return b.select(inside, result, b.constant(b.type(result), std::numeric_limits<double>::quiet_NaN()));
}

// Polynomials lose the sign of a zero argument.
Value odd_at_zero(Builder& b, Value x, Value result) {
  const Value zero = b.constant(b.type(x), 0.0);
  return b.select(b.equal(x, zero), with_sign_of(b, zero, x), result);
}

}  // namespace

Value sin(Builder& b, Value x) {
  const Parts p = parts(b, x);
  const Value second_half = b.equal(b.binary(Op::And, p.quarter, b.integer(2)), b.integer(2));
  return odd_at_zero(b, x, or_nan(b, p.inside, negated_where(b, second_half, b.select(p.odd, p.cos, p.sin))));
}

Value cos(Builder& b, Value x) {
  const Parts p = parts(b, x);
  const Value negative = b.equal(b.binary(Op::And, b.add(p.quarter, b.integer(1)), b.integer(2)), b.integer(2));
  return or_nan(b, p.inside, negated_where(b, negative, b.select(p.odd, p.sin, p.cos)));
}

Value tan(Builder& b, Value x) {
  const Parts p = parts(b, x);
  const Value quotient = b.divide(b.select(p.odd, p.cos, p.sin), b.select(p.odd, p.sin, p.cos));
  return odd_at_zero(b, x, or_nan(b, p.inside, negated_where(b, p.odd, quotient)));
}

}  // namespace anyshape::loop
