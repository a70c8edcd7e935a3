// Elementwise ops, with NumPy's broadcasting. The same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/tensor.h>

#pragma GCC visibility push(default)
namespace anyshape {

class Variable;

/// The arguments are promoted to one dtype, which is the result's; b8 counts as i32.
Tensor add(const Tensor& a, const Tensor& b);           ///< a + b; integers wrap, here and in the next two
Tensor subtract(const Tensor& a, const Tensor& b);      ///< a - b
Tensor multiply(const Tensor& a, const Tensor& b);      ///< a * b
Tensor divide(const Tensor& a, const Tensor& b);        ///< integers give f32
Tensor floor_divide(const Tensor& a, const Tensor& b);  ///< the quotient rounded down, as in Python; integers by 0 give 0
Tensor remainder(const Tensor& a, const Tensor& b);     ///< a - b * floor(a / b): has the sign of b, as in Python; integers by 0 give 0
Tensor pow(const Tensor& a, const Tensor& b);           ///< integers wrap; a negative integer exponent cuts 1 / a^-b to an integer
Tensor maximum(const Tensor& a, const Tensor& b);       ///< NaN where there is one
Tensor minimum(const Tensor& a, const Tensor& b);       ///< likewise
Tensor clip(const Tensor& x, const Tensor& lowest, const Tensor& highest);  ///< minimum(maximum(x, lowest), highest)
Tensor atan2(const Tensor& y, const Tensor& x);                             ///< the angle of the point (x, y), -pi .. pi; integers give f32

/// b8, of the arguments promoted to one dtype. NaN is unequal to all, itself too, and neither less nor greater.
///@{
Tensor equal(const Tensor& a, const Tensor& b);
Tensor not_equal(const Tensor& a, const Tensor& b);
Tensor less(const Tensor& a, const Tensor& b);
Tensor less_equal(const Tensor& a, const Tensor& b);
Tensor greater(const Tensor& a, const Tensor& b);
Tensor greater_equal(const Tensor& a, const Tensor& b);
///@}
/// a where the condition is not 0, b elsewhere: all three broadcast, a and b are promoted to one dtype.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

/// b8; what is not 0 counts as true. Both sides are always computed, so && and || do not compile.
///@{
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_xor(const Tensor& a, const Tensor& b);
Tensor logical_not(const Tensor& x);
///@}
Tensor is_nan(const Tensor& x);     ///< b8: is it not a number?
Tensor is_inf(const Tensor& x);     ///< b8: is it infinite?
Tensor is_finite(const Tensor& x);  ///< b8: is it neither?
Tensor sign_bit(const Tensor& x);   ///< is the number negative, -0 included?

/// The dtype stays unless said otherwise; arithmetic and rounding count b8 as i32.
Tensor negative(const Tensor& x);    ///< -x; integers wrap
Tensor abs(const Tensor& x);         ///< |x|; the lowest integer stays itself
Tensor sign(const Tensor& x);        ///< -1, 0 or 1; NaN stays
Tensor square(const Tensor& x);      ///< x * x; integers wrap
Tensor reciprocal(const Tensor& x);  ///< 1 / x; integers give f32
Tensor floor(const Tensor& x);       ///< rounding keeps the dtype
Tensor ceil(const Tensor& x);        ///< rounds up
Tensor trunc(const Tensor& x);       ///< rounds towards 0
Tensor round(const Tensor& x);       ///< half to even
/// The same numbers in another dtype. To an integer floats lose their fraction and saturate, NaN gives 0, and integers wrap; to b8: is it not 0?
/// To a float the nearest one, half to even, infinite where the number is too large. A host integer that does not fit is a DtypeError.
Tensor cast(const Tensor& x, Dtype dtype);
Tensor stop_gradient(const Tensor& x);  ///< x itself, through which no gradient flows

/// Functions of floats; integers are taken as f32.
///@{
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);  ///< 1 / sqrt(x)
Tensor exp(const Tensor& x);
Tensor expm1(const Tensor& x);  ///< exp(x) - 1, accurate near 0
Tensor log(const Tensor& x);
Tensor log1p(const Tensor& x);  ///< log(1 + x), accurate near 0
Tensor sin(const Tensor& x);    ///< f64 arguments beyond 2^45 give NaN in sin, cos and tan
Tensor cos(const Tensor& x);
Tensor tan(const Tensor& x);
Tensor asin(const Tensor& x);
Tensor acos(const Tensor& x);
Tensor atan(const Tensor& x);
Tensor sinh(const Tensor& x);
Tensor cosh(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor erf(const Tensor& x);
///@}

/// As the functions: / of integers gives f32, % has the sign of b.
///@{
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return subtract(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return multiply(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return divide(a, b); }
inline Tensor operator%(const Tensor& a, const Tensor& b) { return remainder(a, b); }
///@}
/// The handle gets the result, in the dtype that the op gives; who holds the old value keeps it.
///@{
inline Tensor& operator+=(Tensor& a, const Tensor& b) { return a = add(a, b); }
inline Tensor& operator-=(Tensor& a, const Tensor& b) { return a = subtract(a, b); }
inline Tensor& operator*=(Tensor& a, const Tensor& b) { return a = multiply(a, b); }
inline Tensor& operator/=(Tensor& a, const Tensor& b) { return a = divide(a, b); }
inline Tensor& operator%=(Tensor& a, const Tensor& b) { return a = remainder(a, b); }
inline Tensor operator-(const Tensor& x) { return negative(x); }
inline Tensor operator!(const Tensor& x) { return logical_not(x); }
inline Tensor operator==(const Tensor& a, const Tensor& b) { return equal(a, b); }
inline Tensor operator!=(const Tensor& a, const Tensor& b) { return not_equal(a, b); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return less(a, b); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return less_equal(a, b); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return greater(a, b); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return greater_equal(a, b); }
///@}

namespace detail {
template <class T>
inline constexpr bool has_elements = std::is_same_v<T, Tensor> || std::is_same_v<T, Variable>;
}
/// && and || would read one side first and perhaps not the other; of elements there is no such order: neither compiles.
///@{
template <class A, class B>
  requires(detail::has_elements<A> || detail::has_elements<B>)
Tensor operator&&(const A& a, const B&) {
  static_assert(std::is_void_v<A>,
                "anyshape: tensors have no operator &&; write logical_and(a, b), or bool(a) && bool(b) for one element each, with "
                "bool(a.read()) of a variable");
  return a;
}
template <class A, class B>
  requires(detail::has_elements<A> || detail::has_elements<B>)
Tensor operator||(const A& a, const B&) {
  static_assert(std::is_void_v<A>,
                "anyshape: tensors have no operator ||; write logical_or(a, b), or bool(a) || bool(b) for one element each, with "
                "bool(a.read()) of a variable");
  return a;
}
///@}

}  // namespace anyshape
#pragma GCC visibility pop
