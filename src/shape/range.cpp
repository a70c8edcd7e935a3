// Interval arithmetic over the integers with infinite ends. Bounds are computed in 128 bits and only ever widened.
#include "shape/range.h"

#include <algorithm>
#include <initializer_list>

namespace anyshape {
namespace {

__extension__ using Wide = __int128;

// Far beyond any finite value, and such that sums of two stay in 128 bits.
constexpr Wide wide_infinity = Wide{1} << 120;

Wide widen(int64_t bound) {
  if (bound == Range::infinity) return wide_infinity;
  if (bound == Range::minus_infinity) return -wide_infinity;
  return bound;
}

// A low end that is too large, or a high end that is too small, is moved outwards: infinity stays on its own side.
Range narrow(Wide low, Wide high) {
  constexpr Wide largest = Wide{Range::infinity} - 1, smallest = Wide{Range::minus_infinity} + 1;
  Range result;
  result.low = low < smallest ? Range::minus_infinity : static_cast<int64_t>(std::min(low, largest));
  result.high = high > largest ? Range::infinity : static_cast<int64_t>(std::max(high, smallest));
  return result;
}

bool is_infinite(Wide a) { return a >= wide_infinity || a <= -wide_infinity; }

Wide product(Wide a, Wide b) {
  if (a == 0 || b == 0) return 0;
  if (is_infinite(a) || is_infinite(b)) return (a < 0) == (b < 0) ? wide_infinity : -wide_infinity;
  return a * b;
}

// Rounded down, b > 0. Where b is infinite the limit is 0 or -1, whatever a is: the other corners hold the rest.
Wide quotient(Wide a, Wide b) {
  if (is_infinite(b)) return a < 0 ? -1 : 0;
  if (is_infinite(a)) return a;
  return a / b - (a % b < 0 ? 1 : 0);
}

template <class Operation>
Range corners(const Range& a, const Range& b, Operation operation) {
  const Wide all[] = {operation(widen(a.low), widen(b.low)), operation(widen(a.low), widen(b.high)), operation(widen(a.high), widen(b.low)),
                      operation(widen(a.high), widen(b.high))};
  return narrow(*std::min_element(all, all + 4), *std::max_element(all, all + 4));
}

Range negate(const Range& a) { return narrow(-widen(a.high), -widen(a.low)); }

}  // namespace

Range operator+(const Range& a, const Range& b) {
  const bool no_low = a.low == Range::minus_infinity || b.low == Range::minus_infinity;
  const bool no_high = a.high == Range::infinity || b.high == Range::infinity;
  return narrow(no_low ? -wide_infinity : Wide{a.low} + b.low, no_high ? wide_infinity : Wide{a.high} + b.high);
}

Range operator*(const Range& a, const Range& b) { return corners(a, b, product); }

Range floor_divide(const Range& a, const Range& b) {
  if (b.low > 0) return corners(a, b, quotient);
  if (b.high < 0) return corners(negate(a), negate(b), quotient);
  if (b.high <= 0 && b.low >= 0) return {};  // only by zero
  if (b.high <= 0) return floor_divide(a, {b.low, -1});
  if (b.low >= 0) return floor_divide(a, {1, b.high});
  return hull(floor_divide(a, {b.low, -1}), floor_divide(a, {1, b.high}));
}

Range floor_modulo(const Range& a, const Range& b) {
  if (a.low >= 0 && b.low > a.high) return a;
  const Wide low = b.low < 0 ? widen(b.low) + 1 : 0;
  const Wide high = b.high > 0 ? widen(b.high) - 1 : 0;
  if (b.low >= 0 && a.low >= 0) return narrow(0, std::min(high, widen(a.high)));
  return narrow(is_infinite(low - 1) ? -wide_infinity : low, is_infinite(high + 1) ? wide_infinity : high);
}

Range minimum(const Range& a, const Range& b) { return {std::min(a.low, b.low), std::min(a.high, b.high)}; }
Range maximum(const Range& a, const Range& b) { return {std::max(a.low, b.low), std::max(a.high, b.high)}; }
Range hull(const Range& a, const Range& b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

Range power(const Range& a, int exponent) {
  Range result = a;
  for (int i = 1; i < exponent; ++i) result = result * a;
  if (exponent % 2 == 0) result.low = std::max<int64_t>(result.low, 0);
  return result;
}

}  // namespace anyshape
