// Functions and eager ops from many threads: the same bits as serially, one trace per kind of call, variables never torn.
#include "function/on_threads.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <thread>

namespace anyshape::test {
namespace {

TEST(FunctionThreads, cold_calls_give_the_bits_of_serial_ones_with_one_trace_per_kind) {
  const auto body = [](Tensor x, Tensor w) { return std::tuple(softmax(tanh(matmul(x, w)) + 0.5f), sum(x * x, {.axes = {1}})); };
  struct Case {
    Tensor x, w, scores, squares;
  };
  std::vector<Case> cases;
  auto serial = function(body, {.name = "serial", .retrace = Retrace::Allow});
  random::set_seed(1);
  for (const Dtype dtype : {f32, f64}) {
    for (const int64_t rows : {1, 2, 17, 70}) {
      const Tensor x = random::normal({rows, 33}, {.dtype = dtype}), w = random::normal({33, 5}, {.dtype = dtype});
      const auto [scores, squares] = serial(x, w);
      cases.push_back({x, w, scores, squares});
    }
  }
  auto shared = function(body, {.name = "shared", .retrace = Retrace::Allow});
  on_threads([&](int thread) {
    for (size_t i = 0; i < 2 * cases.size(); ++i) {
      const Case& each = cases[(i + static_cast<size_t>(thread)) % cases.size()];
      const auto [scores, squares] = shared(each.x, each.w);
      EXPECT_TRUE(all_equal(scores, each.scores));
      EXPECT_TRUE(all_equal(squares, each.squares));
    }
  });
  const FunctionStats stats = shared.stats();
  EXPECT_EQ(stats.traces, 2) << "f32 and f64";
  EXPECT_EQ(stats.compiles, 2);
  EXPECT_EQ(stats.calls, 2 * thread_count * static_cast<int64_t>(cases.size()));
  EXPECT_EQ(stats.hits, stats.calls - 2);
  EXPECT_NE(shared.report().find("a0 1..70"), std::string::npos) << shared.report();
}

TEST(FunctionThreads, a_callable_runs_on_one_of_the_threads_only) {
  std::atomic<int> runs{0};
  auto slow = function(
      [&](Tensor x) {
        ++runs;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return x + 1.0f;
      },
      {.name = "slow", .retrace = Retrace::Forbid, .check_frozen = false});
  on_threads([&](int thread) { EXPECT_EQ(slow(full({thread}, 1.0f)).shape()[0].value(), thread); });
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(slow.stats().traces, 1);
}

TEST(FunctionThreads, threads_that_wait_try_themselves_when_tracing_throws) {
  std::atomic<int> runs{0};
  std::atomic<int> thrown{0};
  auto fragile = function(
      [&](Tensor x) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (++runs <= 3) throw std::runtime_error("not yet");
        return x + 1.0f;
      },
      {.name = "fragile", .check_frozen = false});
  on_threads([&](int) {
    try {
      EXPECT_EQ(fragile(ones({2})).to_vector<float>(), (std::vector<float>{2, 2}));
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "not yet");
      ++thrown;
    }
  });
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(thrown, 3);
  EXPECT_EQ(fragile.stats().traces, 1);
}

TEST(FunctionThreads, of_forbidden_traces_threads_make_one) {
  std::atomic<int> refused{0};
  auto one = function([](Tensor x) { return x * 2.0f; }, {.name = "one", .retrace = Retrace::Forbid});
  on_threads([&](int thread) {
    try {
      one(thread % 2 == 0 ? ones({2}) : ones({2, 2}));
    } catch (const TraceError&) {
      ++refused;
    }
  });
  EXPECT_EQ(one.stats().traces, 1);
  EXPECT_EQ(refused, thread_count / 2);
}

TEST(FunctionThreads, variables_are_whole_while_other_threads_assign_them) {
  const Variable state(zeros({64}), {.name = "state"});
  auto read = function([&](Tensor x) { return state.read() + x; }, {.name = "read"});
  auto write = function([&](Tensor value) { state.assign(state.read() * 0.0f + value); }, {.name = "write"});
  on_threads([&](int thread) {
    for (int i = 0; i < 50; ++i) {
      if (thread == 0) {
        state.assign(full({64}, static_cast<float>(i)));
      } else if (thread == 1) {
        write(full({64}, static_cast<float>(i)));
      } else {
        const std::vector<float> values = (thread % 2 == 0 ? read(zeros({1})) : state.read() + 0.0f).to_vector<float>();
        for (float value : values) ASSERT_EQ(value, values[0]) << "no value is a mixture of two assignments";
      }
    }
  });
  EXPECT_EQ(read.stats().traces, 1);
}

TEST(FunctionThreads, eager_ops_from_cold_threads_give_the_bits_of_serial_ones) {
  // Ranks and dtypes that no other test of this program runs, so that every thread meets kernels that are not there yet.
  const auto work = [](const Tensor& x) {
    const Tensor y = exp(negative(x)) / (x * x + 1.0f);
    return sum(transpose(y, {4, 3, 2, 1, 0}), {.axes = {1, 3}}) + max(y) + cast(size(x, 0), f64);
  };
  random::set_seed(3);
  const Tensor x = random::normal({3, 1, 5, 2, 17}, {.dtype = f64});
  std::vector<Tensor> results(thread_count);
  on_threads([&](int thread) { results[static_cast<size_t>(thread)] = work(x); });
  const Tensor serial = work(x);
  for (const Tensor& result : results) EXPECT_TRUE(all_equal(result, serial));
}

TEST(FunctionThreads, functions_that_call_each_other_from_threads_end) {
  auto twice = function([](Tensor x) { return x * 2.0f; }, {.name = "twice"});
  auto left = function([&](Tensor x) { return twice(x) + 1.0f; }, {.name = "left"});
  auto right = function([&](Tensor x) { return left(x) - twice(x); }, {.name = "right"});
  on_threads([&](int thread) {
    for (int64_t n : {1, 5, 40}) {
      const Tensor x = full({n}, static_cast<float>(thread));
      EXPECT_TRUE(all_equal(thread % 2 == 0 ? left(x) : right(x), thread % 2 == 0 ? x * 2.0f + 1.0f : ones({n})));
      EXPECT_TRUE(all_equal(twice(x), x + x));
    }
  });
  for (const FunctionStats& stats : {twice.stats(), left.stats(), right.stats()}) EXPECT_EQ(stats.traces, 1);
}

TEST(FunctionThreads, gradients_on_threads_stay_apart) {
  auto gradient = function(
      [](Tensor x) {
        GradientTape tape;
        tape.watch(x);
        return tape.gradient(sum(x * x * x), x);
      },
      {.name = "gradient"});
  on_threads([&](int thread) {
    const float value = static_cast<float>(thread + 1);
    GradientTape tape;
    const Tensor x = full({4}, value);
    tape.watch(x);
    const Tensor eager = tape.gradient(sum(x * x), x);
    EXPECT_TRUE(all_equal(eager, full({4}, 2 * value)));
    EXPECT_TRUE(all_equal(gradient(x), full({4}, 3 * value * value)));
  });
}

}  // namespace
}  // namespace anyshape::test
