// Threads that wait for what others do under one ForkMutex. Unlike a condition variable it works in a child of fork(), too.
#pragma once
#include "base/fork_mutex.h"
#include "base/futex.h"

#include <atomic>
#include <mutex>

namespace anyshape::data {

class ChangeSignal {
 public:
  // Returns with the lock held and `done` true.
  template <class Done>
  void wait(std::unique_lock<ForkMutex>& lock, const Done& done) const {
    while (!done()) {
      const uint32_t seen = changes_.load(std::memory_order_acquire);
      lock.unlock();
      sleep_while(changes_, seen);
      lock.lock();
    }
  }
  // After the change, without the lock.
  void tell() {
    changes_.fetch_add(1, std::memory_order_release);
    wake_all(changes_);
  }

 private:
  std::atomic<uint32_t> changes_{0};
};

}  // namespace anyshape::data
