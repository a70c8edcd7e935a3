// Owners by thread numbers, which no other thread gets, in the child neither.
#include "base/user_code_mutex.h"

#include "base/futex.h"

#include <mutex>

namespace anyshape {

bool UserCodeMutex::take() {
  const std::scoped_lock lock(mutex_);
  if (owner_ != 0 && generation_ != fork_generation() && owner_ != thread_that_forked()) owner_ = 0, depth_ = 0;  // it did not come along
  if (owner_ != 0 && owner_ != thread_number()) return false;
  owner_ = thread_number();
  generation_ = fork_generation();
  ++depth_;
  return true;
}

void UserCodeMutex::lock() {
  for (;;) {
    const uint32_t ended = ended_.load(std::memory_order_acquire);
    if (take()) return;
    sleep_while(ended_, ended);
  }
}

void UserCodeMutex::unlock() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    if (--depth_ > 0) return;
    owner_ = 0;
  }
  ended_.fetch_add(1, std::memory_order_release);
  wake_all(ended_);
}

}  // namespace anyshape
