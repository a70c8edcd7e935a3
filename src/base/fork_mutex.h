// A mutex that no other thread holds when the process forks: the child never finds it taken, nor what it guards half done. Threads of the child
// that a fork left behind would hold a plain one for ever.
#pragma once
#include "base/no_fork.h"

#include <mutex>

namespace anyshape {

class ForkMutex {
 public:
  void lock() {
    NoFork::begin();
    mutex_.lock();
  }
  void unlock() noexcept {
    mutex_.unlock();
    NoFork::end();
  }

 private:
  std::mutex mutex_;
};

}  // namespace anyshape
