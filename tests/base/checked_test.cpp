// Checked arithmetic throws instead of wrapping, and rounds down.
#include "base/checked.h"

#include <anyshape/error.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace anyshape {
namespace {

constexpr int64_t largest = std::numeric_limits<int64_t>::max();
constexpr int64_t smallest = std::numeric_limits<int64_t>::min();

TEST(Checked, gives_exact_results_within_64_bits) {
  EXPECT_EQ(checked_add(largest - 1, 1), largest);
  EXPECT_EQ(checked_subtract(smallest + 1, 1), smallest);
  EXPECT_EQ(checked_multiply(int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
  EXPECT_EQ(checked_bytes(3, 4), 12);
  EXPECT_EQ(checked_round_up(65, 64), 128);
  EXPECT_EQ(checked_round_up(0, 64), 0);
}

TEST(Checked, throws_where_it_would_wrap_and_names_the_operands) {
  EXPECT_THROW(checked_add(largest, 1), ShapeError);
  EXPECT_THROW(checked_subtract(smallest, 1), ShapeError);
  EXPECT_THROW(checked_multiply(largest, 2), ShapeError);
  EXPECT_THROW(checked_bytes(largest, 8), OutOfMemory);
  EXPECT_THROW(checked_round_up(largest, 64), ShapeError);
  EXPECT_THROW(checked_floor_divide(smallest, -1), ShapeError);
  try {
    checked_multiply(largest, 3, "element count");
    FAIL();
  } catch (const ShapeError& error) {
    EXPECT_EQ(std::string(error.what()),
              "element count: size overflows: 9223372036854775807 * 3; expected a result that fits 64 bits. Use smaller sizes.");
  }
}

TEST(Checked, division_rounds_down_and_the_remainder_has_the_sign_of_the_divisor) {
  for (int64_t a = -9; a <= 9; ++a) {
    for (int64_t b = -4; b <= 4; ++b) {
      if (b == 0) {
        EXPECT_THROW(checked_floor_divide(a, b), ShapeError);
        EXPECT_THROW(checked_floor_modulo(a, b), ShapeError);
        continue;
      }
      const int64_t quotient = checked_floor_divide(a, b), remainder = checked_floor_modulo(a, b);
      EXPECT_EQ(quotient * b + remainder, a);
      EXPECT_TRUE(b > 0 ? (remainder >= 0 && remainder < b) : (remainder <= 0 && remainder > b)) << a << " % " << b;
    }
  }
  EXPECT_EQ(checked_floor_modulo(smallest, -1), 0);
}

}  // namespace
}  // namespace anyshape
