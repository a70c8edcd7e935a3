// Halves by integer instructions; where an exponent changes, one exact float addition does the shifting.
#include "loop/half.h"

namespace anyshape::loop {
namespace {

class Bits {
 public:
  explicit Bits(Builder& b) : b_(b) {}
  Value number(int64_t value) const { return b_.constant(Dtype::i32, int64_t{static_cast<int32_t>(value)}); }
  Value masked(Value a, int64_t mask) const { return b_.binary(Op::And, a, number(mask)); }
  Value plus(Value a, int64_t value) const { return b_.add(a, number(value)); }
  Value left(Value a, int64_t count) const { return b_.binary(Op::ShiftLeft, a, number(count)); }
  Value right(Value a, int64_t count) const { return b_.binary(Op::ShiftRightLogical, a, number(count)); }
  Value either(Value a, Value b) const { return b_.binary(Op::Or, a, b); }
  Value as_float(Value a) const { return b_.bitcast(a, Dtype::f32); }
  Value as_bits(Value a) const { return b_.bitcast(a, Dtype::i32); }

 private:
  Builder& b_;
};

constexpr int64_t f32_infinity = 0x7f800000;

Value f16_from_bits(Builder& b, Value bits) {
  constexpr int64_t rebias = (127 - 15) << 23, exponent_mask = 0x7c00 << 13;
  const Bits of(b);
  const Value size = of.left(of.masked(bits, 0x7fff), 13), exponent = of.masked(size, exponent_mask);
  const Value normal = of.plus(size, rebias);
  // A denormal m * 2^-24: the fraction m under the exponent of 2^-14, less that 2^-14.
  const Value tiny = b.subtract(of.as_float(of.plus(normal, 1 << 23)), b.constant(Dtype::f32, 0x1p-14));
  const Value finite = b.select(b.equal(exponent, of.number(0)), of.as_bits(tiny), normal);
  const Value unsigned_bits = b.select(b.equal(exponent, of.number(exponent_mask)), of.plus(normal, rebias), finite);
  return of.as_float(of.either(unsigned_bits, of.left(of.masked(bits, 0x8000), 16)));
}

Value f16_to_bits(Builder& b, Value x) {
  constexpr int64_t rebias = (15 - 127) * (int64_t{1} << 23), least_normal = 0x38800000, first_infinite = 0x477ff000;
  const Bits of(b);
  const Value bits = of.as_bits(x), size = of.masked(bits, 0x7fffffff), last = of.masked(of.right(size, 13), 1);
  const Value normal = of.right(b.add(of.plus(size, rebias + 0xfff), last), 13);
  // Beside 0.5 the last place of an f32 is 2^-24, the unit of f16's denormals: the addition rounds.
  const Value tiny = b.subtract(of.as_bits(b.add(of.as_float(size), b.constant(Dtype::f32, 0.5))), of.number(0x3f000000));
  const Value finite = b.select(b.less(size, of.number(least_normal)), tiny, normal);
  const Value number = b.select(b.less(size, of.number(first_infinite)), finite, of.number(0x7c00));
  const Value nan = of.either(of.masked(of.right(size, 13), 0x3ff), of.number(0x7e00));
  return of.either(b.select(b.less(of.number(f32_infinity), size), nan, number), of.masked(of.right(bits, 16), 0x8000));
}

Value bf16_to_bits(Builder& b, Value x) {
  const Bits of(b);
  const Value bits = of.as_bits(x), high = of.right(bits, 16);
  const Value rounded = of.right(b.add(of.plus(bits, 0x7fff), of.masked(high, 1)), 16);
  const Value is_nan = b.less(of.number(f32_infinity), of.masked(bits, 0x7fffffff));
  return b.select(is_nan, of.either(high, of.number(0x40)), rounded);
}

// An f32 that rounds to any half as x does: cut off, with a last bit of 1 where something was cut ("to odd").
Value narrowed(Builder& b, Value x) {
  const Bits of(b);
  const Value near = b.cast(x, Dtype::f32), back = b.cast(near, Dtype::f64), bits = of.as_bits(near);
  const Value too_far = b.less(b.unary(Op::Absolute, x), b.unary(Op::Absolute, back));
  const Value odd = b.select(too_far, of.plus(bits, -1), of.plus(bits, 1));
  const Value is_even = b.equal(of.masked(bits, 1), of.number(0));
  const Value is_inexact = b.binary(Op::Or, b.less(x, back), b.less(back, x));  // of NaN neither
  return of.as_float(b.select(b.binary(Op::And, is_even, is_inexact), odd, bits));
}

// An f64 that rounds to any half as the integer does: the bits it has no room for are joined into one.
Value widened(Builder& b, Value x) {
  constexpr int64_t cut = 0x7ff, exact = int64_t{1} << 53;
  const auto number = [&](int64_t value) { return b.integer(value); };
  const Value sticky = b.binary(Op::And, b.binary(Op::Or, b.add(b.binary(Op::And, x, number(cut)), number(cut)), x), number(~cut));
  const Value fits = b.binary(Op::And, b.less(number(-exact), x), b.less(x, number(exact)));
  return b.cast(b.select(fits, x, sticky), Dtype::f64);
}

}  // namespace

Value half_from_bits(Builder& b, Value bits, Dtype half) {
  return half == Dtype::f16 ? f16_from_bits(b, bits) : Bits(b).as_float(Bits(b).left(bits, 16));
}

Value half_to_bits(Builder& b, Value x, Dtype half) {
  const Dtype from = b.type(x);
  if (from == Dtype::f64) return half_to_bits(b, narrowed(b, x), half);
  if (from == Dtype::i64) return half_to_bits(b, widened(b, x), half);
  if (from == Dtype::i32) return half_to_bits(b, b.cast(x, Dtype::f64), half);
  const Value wide = b.cast(x, Dtype::f32);
  return half == Dtype::f16 ? f16_to_bits(b, wide) : bf16_to_bits(b, wide);
}

}  // namespace anyshape::loop
