// A recursive mutex that is held while code of the user's runs, for which a fork does not wait: in a child it is free where the thread that held
// it did not come along. What it guards is then as that thread left it; what must not be half done is changed inside a NoFork.
#pragma once
#include "base/fork_mutex.h"

#include <atomic>
#include <cstdint>

namespace anyshape {

class UserCodeMutex {
 public:
  void lock();
  void unlock() noexcept;

 private:
  bool take();

  ForkMutex mutex_;                 // of what follows, for moments only
  uint64_t owner_ = 0;              // its thread's number; 0: nobody
  int64_t depth_ = 0;               // how often it holds it
  uint32_t generation_ = 0;         // of forks, when it took it
  std::atomic<uint32_t> ended_{0};  // how often it became free: what waiting threads watch
};

}  // namespace anyshape
