// Intervals of integers whose ends may be infinite: what is known of a size before it has a value.
#pragma once
#include <cstdint>
#include <limits>

namespace anyshape {

// The two extreme values of int64_t stand for infinity and stay so through arithmetic.
struct Range {
  static constexpr int64_t infinity = std::numeric_limits<int64_t>::max();
  static constexpr int64_t minus_infinity = std::numeric_limits<int64_t>::min();

  int64_t low = minus_infinity;
  int64_t high = infinity;

  bool is_one_value() const { return low == high; }
  bool contains(int64_t value) const { return low <= value && value <= high; }
  bool operator==(const Range&) const = default;
};

Range operator+(const Range& a, const Range& b);
Range operator*(const Range& a, const Range& b);
Range floor_divide(const Range& a, const Range& b);  // for divisors other than 0
Range floor_modulo(const Range& a, const Range& b);
Range minimum(const Range& a, const Range& b);
Range maximum(const Range& a, const Range& b);
Range hull(const Range& a, const Range& b);  // the smallest range that holds both
Range power(const Range& a, int exponent);

}  // namespace anyshape
