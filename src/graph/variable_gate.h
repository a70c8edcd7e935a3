// Admits many readers of a variable or one writer. Readers stay as long as it takes to copy a handle; one who writes in place, as long as the
// kernels run. A lock of four bytes: reading a variable costs two atomic additions.
#pragma once
#include <atomic>
#include <cstdint>

namespace anyshape {

class VariableGate {
 public:
  void lock_shared() noexcept {
    uint32_t seen = state_.load(std::memory_order_relaxed);
    for (;;) {
      seen = wait_for_writer(seen);
      if (state_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire, std::memory_order_relaxed)) return;
    }
  }
  void unlock_shared() noexcept {
    if ((state_.fetch_sub(1, std::memory_order_release) & writing) != 0) state_.notify_all();
  }

  void lock() noexcept {
    uint32_t seen = state_.load(std::memory_order_relaxed);
    for (;;) {
      seen = wait_for_writer(seen);
      if (state_.compare_exchange_weak(seen, seen | writing, std::memory_order_acquire, std::memory_order_relaxed)) break;
    }
    while ((seen = state_.load(std::memory_order_acquire)) != writing) state_.wait(seen, std::memory_order_relaxed);  // readers leave
  }
  void unlock() noexcept {
    state_.store(0, std::memory_order_release);
    state_.notify_all();
  }

 private:
  static constexpr uint32_t writing = uint32_t{1} << 31;

  uint32_t wait_for_writer(uint32_t seen) noexcept {
    for (; (seen & writing) != 0; seen = state_.load(std::memory_order_relaxed)) state_.wait(seen, std::memory_order_relaxed);
    return seen;
  }

  std::atomic<uint32_t> state_{0};  // the readers inside, and whether a writer is or waits for them
};

}  // namespace anyshape
