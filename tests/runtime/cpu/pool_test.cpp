// The pool: every index once, the same cut for any number of threads, exceptions, nesting, callers that share it.
#include "runtime/cpu/pool.h"

#include <anyshape/error.h>
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>

#include "base/float_state.h"
#include "runtime/cpu/openmp.h"

namespace anyshape::runtime {
namespace {

constexpr int thread_counts[] = {1, 2, 3, 8};

// Holds every thread of a pool in one region at the same time, so that a test can be sure that all take part.
template <class F>
void on_every_thread(Pool& pool, F&& action) {
  std::atomic<int> arrived{0};
  pool.run(pool.threads(), 1, [&](int64_t, int64_t) {
    arrived.fetch_add(1);
    while (arrived.load() < pool.threads()) std::this_thread::yield();
    action();
  });
}

TEST(Parts, cover_every_count_without_gaps_in_parts_of_at_least_the_grain) {
  for (int64_t count : {0, 1, 2, 3, 7, 16, 17, 127, 128, 129, 1000, 4096, 65537})
    for (int64_t grain : {-1, 0, 1, 2, 3, 16, 48, 1000, 4096}) {
      const Parts parts(count, grain);
      int64_t expected_begin = 0;
      for (int64_t part = 0; part < parts.number; ++part) {
        EXPECT_EQ(parts.begin(part), expected_begin);
        EXPECT_TRUE(parts.number == 1 || parts.end(part) - parts.begin(part) >= std::max<int64_t>(grain, 1));
        EXPECT_TRUE(grain < 1 || grain % 16 != 0 || parts.begin(part) % 16 == 0);
        expected_begin = parts.end(part);
      }
      EXPECT_EQ(expected_begin, count);
      EXPECT_LE(parts.number, Parts::max_parts);
    }
}

TEST(Parts, do_not_overflow_on_huge_counts) {
  const Parts parts(INT64_MAX, 1);
  EXPECT_EQ(parts.number, Parts::max_parts);
  for (int64_t part = 0; part < parts.number; ++part) EXPECT_LT(parts.begin(part), parts.end(part));
}

// By their numbers: one that another test has ended may still be listed for a while.
std::set<std::string> threads_of_process() {
  std::set<std::string> found;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) found.insert(each.path().filename().string());
  return found;
}

int64_t threads_beside(const std::set<std::string>& others) {
  return std::ranges::count_if(threads_of_process(), [&](const std::string& each) { return !others.contains(each); });
}

TEST(Pool, starts_its_workers_when_asked_or_with_the_first_region) {
  const std::set<std::string> before = threads_of_process();
  {
    Pool asked(3), used(2), unused(4);
    EXPECT_EQ(threads_beside(before), 0);
    asked.start();
    asked.start();
    EXPECT_EQ(threads_beside(before), 2);
    on_every_thread(used, [] {});
    EXPECT_EQ(threads_beside(before), 3);
  }
  for (int wait = 0; wait < 6000 && threads_beside(before) > 0; ++wait) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(threads_beside(before), 0);
}

TEST(Pool, runs_every_index_once) {
  for (int threads : thread_counts) {
    Pool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t count : {0, 1, 2, 3, 100, 5000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
      for (int round = 0; round < 50; ++round)
        pool.run(count, 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) seen[static_cast<size_t>(i)].fetch_add(1, std::memory_order_relaxed);
        });
      for (const auto& times : seen) EXPECT_EQ(times.load(), 50);
    }
  }
}

TEST(Pool, results_written_by_tasks_are_visible_to_the_caller) {
  Pool pool(3);
  std::vector<int64_t> values(1000);
  for (int64_t round = 0; round < 200; ++round) {
    pool.run(1000, 10, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) values[static_cast<size_t>(i)] = i * round;
    });
    EXPECT_EQ(std::accumulate(values.begin(), values.end(), int64_t{0}), 999 * 1000 / 2 * round);
  }
}

TEST(Pool, a_sum_in_parts_has_the_same_bits_for_any_number_of_threads) {
  std::vector<float> values(100'003);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 1.0F / static_cast<float>(i * 37 % 1009 + 1);
  const auto sum_in_parts = [&](Pool& pool) {
    constexpr int64_t grain = 1024;
    const auto count = static_cast<int64_t>(values.size());
    std::vector<float> partial(static_cast<size_t>(count / grain + 1), 0.0F);
    pool.run(count, grain, [&](int64_t begin, int64_t end) {
      partial[static_cast<size_t>(begin / grain)] = std::accumulate(values.begin() + begin, values.begin() + end, 0.0F);
    });
    return std::accumulate(partial.begin(), partial.end(), 0.0F);
  };
  Pool alone(1);
  const float expected = sum_in_parts(alone);
  for (int threads : thread_counts) {
    Pool pool(threads);
    for (int round = 0; round < 20; ++round) EXPECT_EQ(sum_in_parts(pool), expected) << threads << " threads";
  }
}

TEST(Pool, uses_all_its_threads) {
  for (int threads : thread_counts) {
    Pool pool(threads);
    std::mutex mutex;
    std::vector<std::thread::id> ids;
    on_every_thread(pool, [&] {
      const std::lock_guard lock(mutex);
      ids.push_back(std::this_thread::get_id());
    });
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(std::unique(ids.begin(), ids.end()) - ids.begin(), threads);
  }
}

TEST(Pool, wakes_workers_that_sleep) {
  Pool pool(3);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    on_every_thread(pool, [] {});
  }
}

TEST(Pool, a_caller_sleeps_through_a_long_last_part) {
  Pool pool(2);
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> ended{false};
  std::atomic<int> arrived{0};
  pool.run(2, 1, [&](int64_t, int64_t) {
    arrived.fetch_add(1);
    while (arrived.load() < 2) std::this_thread::yield();
    if (std::this_thread::get_id() == caller) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ended.store(true);
  });
  EXPECT_TRUE(ended.load());
}

TEST(Pool, the_exception_of_the_lowest_part_reaches_the_caller_and_the_pool_still_works) {
  for (int threads : thread_counts) {
    Pool pool(threads);
    for (int round = 0; round < 100; ++round) {
      try {
        pool.run(64, 1, [](int64_t begin, int64_t) {
          if (begin >= 5) throw std::runtime_error(std::to_string(begin));
        });
        FAIL() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "5") << threads << " threads";
      }
    }
    std::atomic<int> parts{0};
    pool.run(64, 1, [&](int64_t, int64_t) { parts.fetch_add(1); });
    EXPECT_EQ(parts.load(), 64);
  }
}

TEST(Pool, a_failure_that_comes_late_still_wins_over_those_of_higher_parts) {
  for (int threads : {2, 3, 8}) {
    Pool pool(threads);
    std::atomic<bool> higher_failed{false};
    try {
      pool.run(2, 1, [&](int64_t begin, int64_t) {
        if (begin == 1) {
          higher_failed.store(true);
          throw std::runtime_error("1");
        }
        while (!higher_failed.load()) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        throw std::runtime_error("0");
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "0");
    }
  }
}

TEST(Pool, a_region_inside_a_task_runs_on_that_thread) {
  Pool pool(3);
  std::atomic<int> inner{0}, elsewhere{0};
  pool.run(2, 1, [&](int64_t, int64_t) {
    const auto here = std::this_thread::get_id();
    pool.run(8, 1, [&](int64_t, int64_t) {
      inner.fetch_add(1);
      if (std::this_thread::get_id() != here) elsewhere.fetch_add(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // time for the third thread to take a part, if it could
    });
  });
  EXPECT_EQ(inner.load(), 2 * 8);
  EXPECT_EQ(elsewhere.load(), 0);
}

TEST(Pool, an_exception_of_a_nested_region_reaches_the_outer_caller) {
  Pool pool(2);
  EXPECT_THROW(pool.run(4, 1, [&](int64_t, int64_t) { pool.run(4, 1, [](int64_t, int64_t) { throw std::logic_error("inner"); }); }),
               std::logic_error);
  on_every_thread(pool, [] {});
}

TEST(Pool, callers_share_one_pool_at_the_same_time) {
  for (int threads : thread_counts) {
    Pool pool(threads);
    constexpr int callers = 12;  // more than the pool has slots
    std::vector<int64_t> totals(callers);
    std::vector<std::thread> others;
    for (int caller = 0; caller < callers; ++caller)
      others.emplace_back([&, caller] {
        for (int round = 0; round < 100; ++round) {
          std::vector<int64_t> values(300);
          pool.run(300, 4, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) values[static_cast<size_t>(i)] = i + caller;
          });
          totals[static_cast<size_t>(caller)] += std::accumulate(values.begin(), values.end(), int64_t{0});
        }
      });
    for (std::thread& other : others) other.join();
    for (int caller = 0; caller < callers; ++caller) EXPECT_EQ(totals[static_cast<size_t>(caller)], 100 * (299 * 300 / 2 + 300 * caller));
  }
}

TEST(Pool, an_exception_stays_with_its_caller) {
  Pool pool(3);
  std::vector<std::thread> others;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller)
    others.emplace_back([&, caller] {
      for (int round = 0; round < 200; ++round) try {
          pool.run(16, 1, [&](int64_t begin, int64_t) {
            if (caller % 2 == 0 && begin == 3) throw caller;
          });
          if (caller % 2 == 0) wrong.fetch_add(1);
        } catch (int thrown) {
          if (thrown != caller) wrong.fetch_add(1);
        }
    });
  for (std::thread& other : others) other.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Pool, refuses_impossible_thread_counts) {
  for (int threads : {-1, 0, Pool::max_threads + 1}) EXPECT_THROW(Pool{threads}, ArgumentError);
  EXPECT_THROW(Pool::set_thread_count(0), ArgumentError);
}

TEST(Pool, scoped_pool_replaces_the_shared_one_and_puts_it_back) {
  Pool& before = Pool::shared();
  {
    const ScopedPool scoped(5);
    EXPECT_EQ(Pool::shared().threads(), 5);
    on_every_thread(scoped.pool(), [] {});
  }
  EXPECT_EQ(&Pool::shared(), &before);
}

TEST(Pool, tasks_flush_denormals_on_every_thread_and_the_caller_gets_its_state_back) {
  for (int threads : thread_counts) {
    Pool pool(threads);
    const unsigned odd_state = (_mm_getcsr() & ~0x3FU) | _MM_ROUND_DOWN | 0x2U;  // rounding down, the denormal flag already raised
    const unsigned before = _mm_getcsr();
    _mm_setcsr(odd_state);
    std::atomic<int> flushed{0};
    on_every_thread(pool, [&] {
      volatile float smallest = 1e-38F;
      const float denormal = smallest * 0.01F;
      volatile float one = 1.0F, third = 3.0F;
      if (denormal == 0.0F && _MM_GET_ROUNDING_MODE() == _MM_ROUND_NEAREST && one / third > 0) flushed.fetch_add(1);
    });
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(flushed.load(), threads);
    EXPECT_EQ(after, odd_state);
  }
}

TEST(Pool, the_callers_state_comes_back_after_an_exception) {
  Pool pool(2);
  const unsigned before = _mm_getcsr();
  EXPECT_THROW(pool.run(4, 1, [](int64_t, int64_t) { throw 1; }), int);
  EXPECT_EQ(_mm_getcsr(), before);
}

TEST(FlushDenormals, nests_and_restores) {
  const unsigned before = _mm_getcsr();
  {
    const FlushDenormals outer;
    const unsigned flushing = _mm_getcsr();
    EXPECT_EQ(flushing & 0x8040U, 0x8040U);
    EXPECT_EQ(flushing & 0x1F80U, 0x1F80U);
    {
      const FlushDenormals inner;
      EXPECT_EQ(_mm_getcsr() & 0xFFC0U, flushing & 0xFFC0U);
    }
    EXPECT_EQ(_mm_getcsr() & 0xFFC0U, flushing & 0xFFC0U);
  }
  EXPECT_EQ(_mm_getcsr(), before);
}

TEST(Pool, workers_keep_libraries_on_one_openmp_thread) {
  Pool pool(3);
  const int before = omp_get_max_threads();
  const auto caller = std::this_thread::get_id();
  std::atomic<int> right{0};
  on_every_thread(pool, [&] {
    if (std::this_thread::get_id() == caller || omp_get_max_threads() == 1) right.fetch_add(1);
  });
  EXPECT_EQ(right.load(), 3);
  EXPECT_EQ(omp_get_max_threads(), before);
}

}  // namespace
}  // namespace anyshape::runtime
