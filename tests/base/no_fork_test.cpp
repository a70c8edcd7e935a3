// A fork waits for what other threads have begun, and a child finds no lock taken by a thread that it does not have.
#include "base/user_code_mutex.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace anyshape {
namespace {

// Ends the child by its answer; one that hangs is ended by the alarm.
template <class Body>
int in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(NoFork, a_fork_waits_for_another_thread_that_is_inside) {
  std::atomic<bool> is_inside{false}, is_done{false};
  std::thread other([&] {
    const NoFork whole;
    const NoFork nested;
    is_inside = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    is_done = true;
  });
  while (!is_inside) std::this_thread::yield();
  EXPECT_EQ(in_child([&] { return is_done.load(); }), 0);
  other.join();
}

TEST(NoFork, a_thread_may_fork_while_it_is_inside) {
  const NoFork whole;
  EXPECT_EQ(in_child([] {
              const NoFork again;
              return true;
            }),
            0);
}

TEST(NoFork, a_child_knows_that_it_is_another_process) {
  const uint32_t here = fork_generation();
  EXPECT_EQ(in_child([&] { return fork_generation() == here + 1; }), 0);
  EXPECT_EQ(fork_generation(), here);
}

TEST(NoFork, a_mutex_is_free_and_what_it_guards_whole_in_every_child) {
  ForkMutex mutex;
  int left = 0, right = 0;  // always equal outside the mutex
  std::atomic<bool> ends{false};
  std::vector<std::thread> others;
  for (int thread = 0; thread < 3; ++thread) {
    others.emplace_back([&] {
      while (!ends) {
        const std::scoped_lock lock(mutex);
        ++left;
        std::this_thread::yield();
        ++right;
      }
    });
  }
  for (int round = 0; round < 100; ++round) {
    ASSERT_EQ(in_child([&] {
                const std::scoped_lock lock(mutex);
                return left == right;
              }),
              0)
        << round;
  }
  ends = true;
  for (std::thread& other : others) other.join();
}

struct Noted final : EndsOutside {
  Noted(std::vector<int>& given, int own) : ended(&given), number(own) {}
  ~Noted() override { ended->push_back(number); }
  std::vector<int>* ended;
  int number;
};

TEST(NoFork, what_runs_code_of_the_users_ends_outside) {
  std::vector<int> ended;
  {
    const NoFork whole;
    {
      const NoFork nested;
      NoFork::end_outside(new Noted(ended, 1));
    }
    NoFork::end_outside(new Noted(ended, 2));
    EXPECT_TRUE(ended.empty());
  }
  EXPECT_EQ(ended, (std::vector<int>{1, 2}));
  NoFork::end_outside(new Noted(ended, 3));
  EXPECT_EQ(ended.size(), 3U);
}

TEST(UserCodeMutex, is_free_in_a_child_without_the_thread_that_holds_it) {
  UserCodeMutex mutex;
  std::atomic<bool> is_held{false}, ends{false};
  std::thread other([&] {
    const std::scoped_lock lock(mutex);
    is_held = true;
    while (!ends) std::this_thread::yield();
  });
  while (!is_held) std::this_thread::yield();
  EXPECT_EQ(in_child([&] {
              const std::scoped_lock lock(mutex);
              return true;
            }),
            0);
  ends = true;
  other.join();
}

TEST(UserCodeMutex, stays_taken_in_a_child_of_the_thread_that_holds_it) {
  UserCodeMutex mutex;
  const std::scoped_lock lock(mutex);
  EXPECT_EQ(in_child([&] {
              const std::scoped_lock again(mutex);
              std::atomic<bool> is_taken{false};
              std::thread other([&] {
                const std::scoped_lock own(mutex);
                is_taken = true;
              });
              other.detach();
              std::this_thread::sleep_for(std::chrono::milliseconds(50));
              return !is_taken;
            }),
            0);
}

TEST(UserCodeMutex, lets_one_thread_in_at_a_time) {
  UserCodeMutex mutex;
  int64_t count = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const std::scoped_lock lock(mutex);
        const std::scoped_lock again(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 8000);
}

}  // namespace
}  // namespace anyshape
