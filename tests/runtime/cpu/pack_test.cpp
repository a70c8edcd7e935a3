// Copies of matrices for products: every element where it belongs, nothing beside it, the same for any number of threads.
#include "runtime/cpu/pack.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace anyshape::runtime {
namespace {

constexpr float untouched = -1;

std::vector<float> packed(Pool& pool, bool transpose, int64_t rows, int64_t columns, int64_t from_distance, int64_t to_distance) {
  std::vector<float> from(static_cast<size_t>((transpose ? columns : rows) * from_distance)), to(static_cast<size_t>(rows * to_distance));
  std::iota(from.begin(), from.end(), 0.0F);
  std::fill(to.begin(), to.end(), untouched);
  pack(pool, {.transpose = transpose,
              .rows = rows,
              .columns = columns,
              .from = from.data(),
              .from_distance = from_distance,
              .to = to.data(),
              .to_distance = to_distance});
  return to;
}

void expect_right(const std::vector<float>& to, bool transpose, int64_t columns, int64_t from_distance, int64_t to_distance) {
  for (size_t i = 0; i < to.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i) / to_distance, column = static_cast<int64_t>(i) % to_distance;
    const int64_t offset = transpose ? column * from_distance + row : row * from_distance + column;
    ASSERT_EQ(to[i], column < columns ? static_cast<float>(offset) : untouched) << "row " << row << ", column " << column;
  }
}

TEST(Pack, elements_are_where_they_belong_for_any_size_and_number_of_threads) {
  for (const int threads : {1, 2, 3, 8}) {
    Pool pool(threads);
    for (const int64_t rows : {0, 1, 7, 64, 301}) {
      for (const int64_t columns : {0, 1, 8, 33, 400}) {
        for (const int64_t padding : {0, 5}) {
          SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", padding " << padding << ", " << threads << " threads");
          expect_right(packed(pool, false, rows, columns, columns + padding, columns + 16), false, columns, columns + padding,
                       columns + 16);
          expect_right(packed(pool, true, rows, columns, rows + padding, columns + 16), true, columns, rows + padding, columns + 16);
        }
      }
    }
  }
}

}  // namespace
}  // namespace anyshape::runtime
