// Runs a body on eight threads at once, for tests of what they share.
#pragma once
#include <gtest/gtest.h>

#include <barrier>
#include <exception>
#include <thread>
#include <vector>

namespace anyshape::test {

inline constexpr int thread_count = 8;

// Runs body(thread) on all threads at once; an exception in one fails the test.
template <class Body>
void on_threads(const Body& body) {
  std::barrier start(thread_count);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&, thread] {
      start.arrive_and_wait();
      try {
        body(thread);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "thread " << thread << ": " << error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace anyshape::test
