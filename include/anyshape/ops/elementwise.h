// Elementwise ops, with NumPy's broadcasting. The same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/tensor.h>

#pragma GCC visibility push(default)
namespace anyshape {

Tensor add(const Tensor& a, const Tensor& b);
Tensor subtract(const Tensor& a, const Tensor& b);
Tensor multiply(const Tensor& a, const Tensor& b);
Tensor divide(const Tensor& a, const Tensor& b);        // integers give f32
Tensor floor_divide(const Tensor& a, const Tensor& b);  // the quotient rounded down, as in Python; integers by 0 give 0
Tensor remainder(const Tensor& a, const Tensor& b);     // a - b * floor_divide(a, b): has the sign of b, as in Python
Tensor pow(const Tensor& a, const Tensor& b);           // integers wrap; a negative integer exponent cuts 1 / a^-b to an integer
Tensor maximum(const Tensor& a, const Tensor& b);       // NaN where there is one
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor clip(const Tensor& x, const Tensor& lowest, const Tensor& highest);  // minimum(maximum(x, lowest), highest)
Tensor atan2(const Tensor& y, const Tensor& x);                             // the angle of the point (x, y), -pi .. pi

Tensor equal(const Tensor& a, const Tensor& b);
Tensor not_equal(const Tensor& a, const Tensor& b);
Tensor less(const Tensor& a, const Tensor& b);
Tensor less_equal(const Tensor& a, const Tensor& b);
Tensor greater(const Tensor& a, const Tensor& b);
Tensor greater_equal(const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

// b8; what is not 0 counts as true. Both sides are always computed, so there are no operators && and ||.
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_xor(const Tensor& a, const Tensor& b);
Tensor logical_not(const Tensor& x);
Tensor is_nan(const Tensor& x);
Tensor is_inf(const Tensor& x);
Tensor is_finite(const Tensor& x);
Tensor sign_bit(const Tensor& x);  // is the number negative, -0 included?

Tensor negative(const Tensor& x);
Tensor abs(const Tensor& x);
Tensor sign(const Tensor& x);  // -1, 0 or 1; NaN stays
Tensor square(const Tensor& x);
Tensor reciprocal(const Tensor& x);  // 1 / x; integers give f32
Tensor floor(const Tensor& x);       // rounding keeps the dtype
Tensor ceil(const Tensor& x);
Tensor trunc(const Tensor& x);
Tensor round(const Tensor& x);  // half to even
Tensor cast(const Tensor& x, Dtype dtype);
Tensor stop_gradient(const Tensor& x);  // x itself, through which no gradient flows

// Functions of floats; integers are taken as f32.
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);  // 1 / sqrt(x)
Tensor exp(const Tensor& x);
Tensor expm1(const Tensor& x);  // exp(x) - 1, accurate near 0
Tensor log(const Tensor& x);
Tensor log1p(const Tensor& x);  // log(1 + x), accurate near 0
Tensor sin(const Tensor& x);    // f64 arguments beyond 2^45 give NaN in sin, cos and tan
Tensor cos(const Tensor& x);
Tensor tan(const Tensor& x);
Tensor asin(const Tensor& x);
Tensor acos(const Tensor& x);
Tensor atan(const Tensor& x);
Tensor sinh(const Tensor& x);
Tensor cosh(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor erf(const Tensor& x);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return subtract(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return multiply(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return divide(a, b); }
inline Tensor operator%(const Tensor& a, const Tensor& b) { return remainder(a, b); }
inline Tensor operator-(const Tensor& x) { return negative(x); }
inline Tensor operator!(const Tensor& x) { return logical_not(x); }
inline Tensor operator==(const Tensor& a, const Tensor& b) { return equal(a, b); }
inline Tensor operator!=(const Tensor& a, const Tensor& b) { return not_equal(a, b); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return less(a, b); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return less_equal(a, b); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return greater(a, b); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return greater_equal(a, b); }

}  // namespace anyshape
#pragma GCC visibility pop
