// The order of kernels while they are joined.
#include "lower/kernel_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace anyshape::test {
namespace {

TEST(KernelOrder, kernels_move_and_go_as_in_a_list) {
  std::mt19937 random(5);
  std::vector<size_t> expected(60);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = i;
  lower::KernelOrder order(expected.size());
  for (int round = 0; round < 3000; ++round) {
    if (round % 60 == 59) {
      const size_t gone = random() % expected.size();
      order.remove(expected[gone]);
      expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(gone));
    }
    if (expected.size() < 2) break;
    // Often behind the same one, so that there is no room left between two.
    const size_t kernel = expected[random() % expected.size()], other = expected[round % 3 == 0 ? random() % expected.size() : 0];
    if (kernel == other) continue;
    order.move_behind(kernel, other);
    std::erase(expected, kernel);
    expected.insert(std::ranges::find(expected, other) + 1, kernel);
    ASSERT_EQ(order.in_order(), expected);
    for (size_t i = 1; i < expected.size(); ++i) ASSERT_TRUE(order.is_before(expected[i - 1], expected[i]));
  }
}

}  // namespace
}  // namespace anyshape::test
