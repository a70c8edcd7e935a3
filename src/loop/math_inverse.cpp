// atan, atan2, asin and acos: each brought to a small interval by an identity, then a polynomial in the square.
#include "loop/math.h"
#include "loop/math_parts.h"
#include "loop/polynomial.h"

#include <limits>

namespace anyshape::loop {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// A multiple of pi in the type of x, in two parts.
struct Angle {
  Value high, low;
};
Angle pi_times(Builder& b, Value x, double factor) {
  const Numbers number(b, x);
  if (b.type(x) == Dtype::f32) return {number(3.1415927410125732 * factor), number(-8.7422776573475858e-08 * factor)};
  return {number(3.141592653589793116 * factor), number(1.2246467991473532e-16 * factor)};
}

// atan(q) for 0 <= q <= 1: beyond tan(pi / 8) it is pi / 4 + atan((q - 1) / (q + 1)).
Value atan_of_ratio(Builder& b, Value q) {
  const Numbers number(b, q);
  const Value far = b.less(number(0.41421356237309503), q);
  const Value t = b.select(far, b.divide(b.subtract(q, number(1)), b.add(q, number(1))), q);
  const Value z = b.multiply(t, t);
  const Value tail =
      b.type(q) == Dtype::f32
          ? polynomial(b, z, {-0.3333333183856134, 0.19999553528575972, -0.14264297314000157, 0.10746569417108975, -0.06459199612851386})
          : polynomial(b, z,
                       {-0.3333333333333333, 0.19999999999999993, -0.1428571428571156, 0.11111111110758368, -0.09090909067168644,
                        0.07692306739753102, -0.06666642067483997, 0.058819254772425646, -0.052580396595501365, 0.04719359473718113,
                        -0.04104206561322565, 0.030628566014826775, -0.01390932588032733});
  const Angle eighth = pi_times(b, q, 0.25);
  const Value cube = b.multiply(t, z);
  const Value near = b.fma(cube, tail, t);
  return b.select(far, b.add(eighth.high, b.add(t, b.fma(cube, tail, eighth.low))), near);
}

Value less_from(Builder& b, const Angle& angle, Value x) { return b.add(b.subtract(angle.high, x), angle.low); }

// asin(t) for 0 <= t <= 1/2, given z = t^2
Value asin_near_zero(Builder& b, Value t, Value z) {
  const Value tail =
      b.type(t) == Dtype::f32
          ? polynomial(b, z,
                       {0.16666666295016375, 0.07500103114891764, 0.04459663893936798, 0.031131766153631408, 0.01700648379642174,
                        0.03391997041469603})
          : polynomial(b, z,
                       {0.16666666666666666, 0.07500000000000133, 0.044642857142518914, 0.030381944478444313, 0.022372157309983116,
                        0.017352820182027173, 0.013963716293544717, 0.011567206261148766, 0.009615857935173798, 0.00935247908894313,
                        0.0029227079036220054, 0.019846898279669473, -0.019649034433599076, 0.029863018263136854});
  return b.fma(b.multiply(t, z), tail, t);
}

// For both: asin|x| where |x| <= 1/2, else asin(sqrt((1 - |x|) / 2)), which is half of acos|x|. Outside 1 the root is NaN.
struct Halved {
  Value far;  // b8: |x| > 1/2
  Value angle;
};
Halved halved(Builder& b, Value x) {
  const Numbers number(b, x);
  const Value size = b.unary(Op::Absolute, x);
  const Value far = b.less(number(0.5), size);
  const Value rest = b.multiply(number(0.5), b.subtract(number(1), size));
  const Value t = b.select(far, b.unary(Op::SquareRoot, rest), size);
  return {far, asin_near_zero(b, t, b.select(far, rest, b.multiply(x, x)))};
}

}  // namespace

Value atan(Builder& b, Value x) {
  format_of(b, x);
  const Numbers number(b, x);
  const Value size = b.unary(Op::Absolute, x);
  const Value steep = b.less(number(1), size);
  const Value near = atan_of_ratio(b, b.select(steep, b.divide(number(1), size), size));
  return with_sign_of(b, b.select(steep, less_from(b, pi_times(b, x, 0.5), near), near), x);
}

Value atan2(Builder& b, Value y, Value x) {
  format_of(b, x);
  const Numbers number(b, x);
  const Value height = b.unary(Op::Absolute, y), width = b.unary(Op::Absolute, x);
  const Value steep = b.less(width, height);
  const Value small = b.select(steep, width, height), large = b.select(steep, height, width);
  // Two zeros and two infinities have no quotient: IEEE 754 takes their directions as 0 and 45 degrees.
  const Value ratio =
      b.select(b.equal(large, number(0)), number(0), b.select(b.equal(small, number(infinity)), number(1), b.divide(small, large)));
  const Value from_axis = atan_of_ratio(b, ratio);
  const Value first_quadrant = b.select(steep, less_from(b, pi_times(b, x, 0.5), from_axis), from_axis);
  const Format& format = format_of(b, x);
  const Value left = b.less(b.bitcast(x, format.bits), b.constant(format.bits, int64_t{0}));  // -0 counts as left
  const Value angle = b.select(left, less_from(b, pi_times(b, x, 1), first_quadrant), first_quadrant);
  const Value is_nan = b.binary(Op::Or, b.binary(Op::NotEqual, x, x), b.binary(Op::NotEqual, y, y));
  return b.select(is_nan, b.add(x, y), with_sign_of(b, angle, y));
}

Value asin(Builder& b, Value x) {
  format_of(b, x);
  const Halved half = halved(b, x);
  const Value doubled = b.add(half.angle, half.angle);
  return with_sign_of(b, b.select(half.far, less_from(b, pi_times(b, x, 0.5), doubled), half.angle), x);
}

Value acos(Builder& b, Value x) {
  format_of(b, x);
  const Numbers number(b, x);
  const Halved half = halved(b, x);
  const Value doubled = b.add(half.angle, half.angle);
  const Value negative = b.less(x, number(0));
  const Angle quarter = pi_times(b, x, 0.5);
  const Value signed_angle = b.select(negative, b.unary(Op::Negate, half.angle), half.angle);
  const Value near = b.subtract(quarter.high, b.subtract(signed_angle, quarter.low));
  const Value far = b.select(negative, less_from(b, pi_times(b, x, 1), doubled), doubled);
  return b.select(half.far, far, near);
}

}  // namespace anyshape::loop
