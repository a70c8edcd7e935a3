// Calls that read and assign one variable on several threads: each sees what the one before it assigned, so no update is lost.
#include "function/on_threads.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace anyshape::test {
namespace {

constexpr int rounds = 1000;
constexpr auto total = static_cast<float>(thread_count * rounds);

TEST(AssignThreads, increments_through_one_function_are_all_there) {
  const Variable count(zeros({100}), {.name = "count"});
  const Tensor rest = ones({20000});  // so that there is time between reading and assigning
  auto increase = function([&](Tensor x) { count.assign_add(x * mean(rest)); }, {.name = "increase"});
  const Tensor one = ones({100});
  on_threads([&](int) {
    for (int round = 0; round < rounds; ++round) increase(one);
  });
  EXPECT_TRUE(all_equal(count.read(), full({100}, total)));
}

TEST(AssignThreads, increments_through_two_functions_are_all_there) {
  const Variable count(zeros({3}), {.name = "count"});
  auto increase = function([&](Tensor x) { count.assign_add(x); }, {.name = "increase"});
  auto decrease = function([&](Tensor x) { count.assign_sub(x * -1.0f); }, {.name = "decrease"});
  const Tensor one = ones({3});
  on_threads([&](int thread) {
    for (int round = 0; round < rounds; ++round) thread % 2 == 0 ? increase(one) : decrease(one);
  });
  EXPECT_TRUE(all_equal(count.read(), full({3}, total)));
}

TEST(AssignThreads, increments_op_by_op_and_through_a_function_are_all_there) {
  const Variable count(zeros({2}), {.name = "count"});
  auto increase = function([&](Tensor x) { count.assign_add(x); }, {.name = "increase"});
  const Tensor one = ones({2});
  on_threads([&](int thread) {
    for (int round = 0; round < rounds; ++round) thread % 2 == 0 ? increase(one) : count.assign_add(one);
  });
  EXPECT_TRUE(all_equal(count.read(), full({2}, total)));
}

// In whichever order a function assigns them: nobody waits in a circle.
TEST(AssignThreads, functions_that_share_some_of_their_variables_end_and_lose_nothing) {
  const Variable a(zeros({4})), b(zeros({4})), c(zeros({4}));
  const auto both = [](const Variable& first, const Variable& second) {
    return function(
        [=](Tensor x) {
          first.assign_add(x);
          second.assign_add(x);
        },
        {.name = "both"});
  };
  const std::vector<Function<void(Tensor)>> functions = {both(a, b), both(b, c), both(c, a), both(b, a)};
  const Tensor one = ones({4});
  on_threads([&](int thread) {
    for (int round = 0; round < rounds; ++round) functions[static_cast<size_t>(thread) % functions.size()](one);
  });
  EXPECT_TRUE(all_equal(a.read(), full({4}, 3 * total / 4)));
  EXPECT_TRUE(all_equal(b.read(), full({4}, 3 * total / 4)));
  EXPECT_TRUE(all_equal(c.read(), full({4}, total / 2)));
}

TEST(AssignThreads, a_function_inside_a_function_counts_once_per_call) {
  const Variable count(zeros({}));
  auto inner = function([&](Tensor x) { count.assign_add(x); }, {.name = "inner"});
  auto outer = function(
      [&](Tensor x) {
        inner(x);
        count.assign_add(x);
      },
      {.name = "outer"});
  on_threads([&](int thread) {
    for (int round = 0; round < rounds / 10; ++round) thread % 2 == 0 ? outer(ones({})) : inner(ones({}));
  });
  EXPECT_EQ(count.read().item<float>(), 1.5F * total / 10);
}

TEST(AssignThreads, a_call_that_throws_lets_the_next_one_go_on) {
  const Variable count(zeros({}));
  auto take_and_count = function(
      [&](Tensor table, Tensor index) {
        count.assign_add(ones({}));
        return take(table, index);
      },
      {.name = "take_and_count"});
  std::atomic<int> thrown{0};
  on_threads([&](int thread) {
    for (int round = 0; round < 50; ++round) {
      try {
        take_and_count(ones({3}), tensor({thread % 2 == 0 ? 1 : 7}));
      } catch (const Error&) {
        thrown.fetch_add(1);
      }
    }
  });
  EXPECT_EQ(thrown.load(), thread_count / 2 * 50);
  EXPECT_EQ(count.read().item<float>(), thread_count / 2 * 50);
}

TEST(AssignThreads, readers_do_not_wait_for_a_step) {
  const Variable count(zeros({64}));
  auto increase = function([&](Tensor x) { count.assign_add(x); }, {.name = "increase"});
  auto read = function([&](Tensor x) { return sum(count * x); }, {.name = "read"});
  const Tensor one = ones({64});
  on_threads([&](int thread) {
    float before = 0;
    for (int round = 0; round < 200; ++round) {
      if (thread == 0) {
        increase(one);
        continue;
      }
      const float now = read(one).item<float>();
      EXPECT_GE(now, before);
      EXPECT_EQ(static_cast<int>(now) % 64, 0) << "half of a step";
      before = now;
    }
  });
}

}  // namespace
}  // namespace anyshape::test
