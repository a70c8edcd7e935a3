// Memory over many shapes: one trace serves them without growing, and one trace per shape stays within its limits.
#include "support/resident_memory.h"
#include "support/sanitized.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace anyshape::test {
namespace {

// A sanitizer keeps freed memory aside, so there only the counts are looked at.
constexpr int64_t mebibyte = 1 << 20;

TEST(FunctionMemory, calls_over_a_thousand_shapes_do_not_grow) {
  auto scaled = function([](Tensor x) { return sum(x * 2.0f + 1.0f, {.axes = {0}}); }, {.name = "scaled"});
  std::vector<Tensor> arguments;
  for (int64_t i = 0; i < 1000; ++i) arguments.push_back(ones({i % 25, i / 25}));
  const auto run_all = [&] {
    for (const Tensor& each : arguments) scaled(each);
  };
  for (int round = 0; round < 5; ++round) run_all();
  int rounds = 5;
  const int64_t growth = resident_growth(is_sanitized ? INT64_MAX : mebibyte, [&] {
    for (int round = 0; round < (is_sanitized ? 5 : 95); ++round, ++rounds) run_all();
  });
  if (!is_sanitized) {
    EXPECT_LE(growth, mebibyte);
  }
  EXPECT_EQ(scaled.stats().traces, 1);
  EXPECT_EQ(scaled.stats().calls, 1000 * rounds);
}

// The time is LLVM's: one compile per shape.
TEST(FunctionMemory, exact_mode_over_many_shapes_stays_within_its_limits_and_returns_code) {
  const int64_t shapes = is_sanitized ? 200 : 2000, limit = 64;
  auto total = function([](Tensor x) { return negative(x); },
                        {.name = "total", .shapes = Shapes::Exact, .check_frozen = false, .max_traces = limit});
  int64_t most_bytes = 0, first_bytes = 0, resident = 0;
  for (int64_t n = 0; n < shapes; ++n) {
    EXPECT_EQ(total(full({n % 7, n}, -1.0f)).shape()[1].value(), n);
    const FunctionStats stats = total.stats();
    if (n + 1 == limit) first_bytes = stats.code_bytes;
    if (n + 1 == 4 * limit) resident = resident_bytes();
    most_bytes = std::max(most_bytes, stats.code_bytes);
  }
  const FunctionStats stats = total.stats();
  EXPECT_EQ(stats.traces, shapes);
  EXPECT_EQ(stats.evictions, shapes - limit);
  EXPECT_EQ(static_cast<int64_t>(total.traces().size()), limit);
  EXPECT_LE(most_bytes, 2 * first_bytes) << "what is held is the code of " << limit << " traces";
  if (!is_sanitized) {
    EXPECT_LE(resident_bytes() - resident, 16 * mebibyte) << "code that was evicted is given back";
  }
  total.clear();
  EXPECT_EQ(total.stats().code_bytes, 0);
}

}  // namespace
}  // namespace anyshape::test
