// Reductions and rows of unequal length are cut by sizes only: the same bits for any number of threads, compiled and interpreted.
#include "function/compile.h"
#include "function/same_bits.h"
#include "function/small_network.h"
#include "ops/segment_rows.h"
#include "runtime/cpu/pool.h"

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

struct Case {
  std::vector<int64_t> shape;
  std::vector<int64_t> axes;
};

// Sums are close to those in f64, too.
const std::vector<Case> cases = {{{4096, 10}, {0}},      {{700, 300}, {0}},       {{3, 5}, {0}},      {{0, 5}, {0}},
                                 {{5, 0}, {0}},          {{2, 100'000}, {1}},     {{1, 16'385}, {1}}, {{30, 7, 50}, {0, 2}},
                                 {{300, 40, 6}, {0, 1}}, {{20, 3, 1000}, {0, 1}}, {{257, 1}, {0}},    {{70'000}, {0}}};

TEST(ReductionThreads, change_no_bit) {
  std::mt19937 host(5);
  for (const Case& each : cases) {
    const Tensor x = random_tensor(host, each.shape, f32);
    auto compiled = function([&](Tensor all) { return sum(all * 2, {.axes = each.axes}); }, {.name = "compiled"});
    std::vector<Tensor> results;
    for (int threads : {1, 2, 3, 8}) {
      const runtime::ScopedPool pool(threads);
      results.push_back(compiled(x));
    }
    {
      const function_detail::ScopedInterpretation interpretation;
      auto interpreted = function([&](Tensor all) { return sum(all * 2, {.axes = each.axes}); }, {.name = "interpreted"});
      results.push_back(interpreted(x));
    }
    for (const Tensor& result : results) EXPECT_TRUE(same_bits(result, results[0])) << to_string(x.shape());
    const Tensor exact = sum(cast(x, f64) * 2, {.axes = each.axes});
    EXPECT_TRUE(all_close(cast(results[0], f64), exact, {.relative = 1e-5, .absolute = 1e-3})) << to_string(x.shape());
  }
}

TEST(ReductionThreads, one_trace_serves_narrow_and_wide_and_long) {
  std::mt19937 host(7);
  auto columns = function([](Tensor x) { return sum(x, {.axes = {0}}); }, {.name = "columns"});
  auto indices = function([](Tensor x) { return argmax(x, {.axis = 1}); }, {.name = "indices"});
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{4096, 10}, {1, 1}, {0, 4}, {3, 70'000}, {255, 300}, {513, 17}}) {
    const Tensor x = random_tensor(host, shape, f32);
    EXPECT_TRUE(all_close(cast(columns(x), f64), sum(cast(x, f64), {.axes = {0}}), {.relative = 1e-5, .absolute = 1e-4}))
        << to_string(x.shape());
    EXPECT_TRUE(all_equal(indices(x), argmax(cast(x, f64), {.axis = 1})));
  }
  EXPECT_EQ(columns.stats().traces, 1);
  EXPECT_EQ(indices.stats().traces, 1);
}

std::vector<Tensor> rows_and_gradients(const Tensor& x, const Tensor& splits) {
  GradientTape tape;
  tape.watch(x);
  const Tensor weights = segment::softmax(x, splits), sums = segment::sum(weights * x, splits);
  const Tensor order = segment::sort(segment::cumsum(x, splits), splits);
  const Tensor total = sum(sums * sums) + sum(order * weights);
  return {weights, sums, order, tape.gradient(total, std::vector<Tensor>{x})[0]};
}

TEST(SegmentThreads, change_no_bit) {
  std::mt19937 host(5);
  for (const Lengths& lengths : {Lengths{40000, 0, 3, 20000, 17}, Lengths(3000, 7), Lengths{1, 0, 2}}) {
    for (const int64_t width : {1, 6}) {
      const std::vector<int64_t> shape =
          width == 1 ? std::vector<int64_t>{total_of(lengths)} : std::vector<int64_t>{total_of(lengths), width};
      const Tensor x = random_tensor(host, shape, f32), splits = splits_for(lengths);
      auto compiled = function([](Tensor a, Tensor b) { return rows_and_gradients(a, b); }, {.name = "compiled"});
      std::vector<std::vector<Tensor>> results;
      for (const int threads : {1, 2, 3, 8}) {
        const runtime::ScopedPool pool(threads);
        results.push_back(compiled(x, splits));
      }
      if (total_of(lengths) < 25000) {
        const function_detail::ScopedInterpretation interpretation;
        auto interpreted = function([](Tensor a, Tensor b) { return rows_and_gradients(a, b); }, {.name = "interpreted"});
        results.push_back(interpreted(x, splits));
      }
      for (const std::vector<Tensor>& result : results) {
        for (size_t i = 0; i < result.size(); ++i) EXPECT_TRUE(same_bits(result[i], results[0][i])) << to_string(x.shape()) << ", " << i;
      }
    }
  }
}

}  // namespace
}  // namespace anyshape::test
