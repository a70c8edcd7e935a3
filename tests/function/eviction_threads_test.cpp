// Traces that come and go while many threads call: results stay right, every distinct kind is compiled once, nothing waits in a circle.
#include "function/on_threads.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>

namespace anyshape::test {
namespace {

TEST(EvictionThreads, callers_of_evicted_traces_run_on) {
  auto square =
      function([](Tensor x) { return x * x; }, {.name = "square", .shapes = Shapes::Exact, .retrace = Retrace::Allow, .max_traces = 2});
  on_threads([&](int thread) {
    for (int64_t i = 0; i < 6; ++i) {
      const int64_t n = (i + thread) % 4 + 1;
      EXPECT_TRUE(all_equal(square(full({n}, 3.0f)), full({n}, 9.0f)));
    }
  });
  const FunctionStats stats = square.stats();
  EXPECT_EQ(stats.calls, 6 * thread_count);
  EXPECT_EQ(stats.traces, stats.calls - stats.hits);
  EXPECT_EQ(stats.evictions, stats.traces - 2);
  EXPECT_EQ(square.traces().size(), 2U);
}

TEST(EvictionThreads, clearing_and_reading_the_ledger_beside_calls_is_safe_on_threads) {
  auto square = function([](Tensor x) { return x * x; }, {.name = "square", .retrace = Retrace::Allow});
  on_threads([&](int thread) {
    for (int i = 0; i < 5; ++i) {
      if (thread == 0) square.clear();
      if (thread == 1) {
        EXPECT_FALSE(square.report().empty());
      }
      if (thread == 2) {
        EXPECT_FALSE(functions().empty());
      }
      if (thread == 3) square.would_retrace(ones({2, 2}));
      EXPECT_EQ(square(full({1}, 3.0f)).item<float>(), 9);
    }
  });
}

TEST(EvictionThreads, cold_threads_compile_each_distinct_kind_once) {
  auto exact = function([](Tensor x) { return x + 1.0f; }, {.name = "exact", .shapes = Shapes::Exact, .retrace = Retrace::Allow});
  auto symbolic = function([](Tensor x) { return x + 1.0f; }, {.name = "symbolic", .retrace = Retrace::Allow});
  on_threads([&](int thread) {
    for (int i = 0; i < 64; ++i) {
      const int64_t n = (i + thread * 4) % 32;
      const Tensor x = zeros({n}, {.dtype = (i + thread) % 2 == 0 ? f32 : f64});
      EXPECT_EQ(symbolic(x).shape()[0].value(), n);
      if (n < 3) {
        EXPECT_EQ(exact(x).shape()[0].value(), n);
      }
    }
  });
  EXPECT_EQ(symbolic.stats().compiles, 2) << "two dtypes";
  EXPECT_EQ(symbolic.stats().traces, 2);
  EXPECT_EQ(symbolic.stats().hits, 64 * thread_count - 2);
  EXPECT_EQ(exact.stats().compiles, exact.stats().traces);
  EXPECT_EQ(exact.stats().traces, static_cast<int64_t>(exact.traces().size()));
  EXPECT_LE(exact.stats().traces, 6) << "three sizes, two dtypes";
}

TEST(EvictionThreads, functions_that_call_each_others_twins_from_threads_end) {
  const auto add = [](Tensor x) { return x + 1.0f; };
  const auto twice = [](Tensor x) { return x * 2.0f; };
  auto a = function(add, {.name = "a"}), b = function(twice, {.name = "b"});
  auto a_calls_b = function([&](Tensor x) { return b(add(x)); }, {.name = "a_calls_b"});
  auto b_calls_a = function([&](Tensor x) { return a(twice(x)); }, {.name = "b_calls_a"});
  on_threads([&](int thread) {
    const Tensor x = full({thread + 1}, 3.0f);
    if (thread % 4 == 0) {
      EXPECT_TRUE(all_equal(a_calls_b(x), full({thread + 1}, 8.0f)));
    }
    if (thread % 4 == 1) {
      EXPECT_TRUE(all_equal(b_calls_a(x), full({thread + 1}, 7.0f)));
    }
    if (thread % 4 == 2) {
      EXPECT_TRUE(all_equal(a(x), full({thread + 1}, 4.0f)));
    }
    if (thread % 4 == 3) {
      EXPECT_TRUE(all_equal(b(x), full({thread + 1}, 6.0f)));
    }
  });
  for (const FunctionStats& stats : {a.stats(), b.stats(), a_calls_b.stats(), b_calls_a.stats()}) EXPECT_EQ(stats.traces, 1);
}

TEST(EvictionThreads, a_sink_that_calls_functions_on_warning_threads_harms_no_call) {
  auto square = function([](Tensor x) { return x * x; }, {.name = "square"});
  auto other = function([](Tensor x) { return x + 1.0f; }, {.name = "other"});
  other(ones({1, 1}));
  set_log_sink([&](std::string_view) { other(ones({7, 9})); });
  for (const Dtype dtype : {f32, f64, i32}) EXPECT_EQ(square(ones({3}, {.dtype = dtype})).shape(), (Shape{3}));
  set_log_sink({});
  EXPECT_EQ(other.stats().calls, 2);
}

}  // namespace
}  // namespace anyshape::test
