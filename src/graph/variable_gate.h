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
    while (((seen = state_.load(std::memory_order_acquire)) & readers) != 0) state_.wait(seen, std::memory_order_relaxed);  // they leave
  }
  void unlock() noexcept {
    if ((state_.exchange(0, std::memory_order_release) & awaited) != 0) state_.notify_all();
  }

 private:
  static constexpr uint32_t writing = uint32_t{1} << 31, awaited = uint32_t{1} << 30, readers = awaited - 1;

  uint32_t wait_for_writer(uint32_t seen) noexcept {
    while ((seen & writing) != 0) [[unlikely]] {
      if (!state_.compare_exchange_weak(seen, seen | awaited, std::memory_order_relaxed, std::memory_order_relaxed)) continue;
      state_.wait(seen | awaited, std::memory_order_relaxed);
      seen = state_.load(std::memory_order_relaxed);
    }
    return seen;
  }

  std::atomic<uint32_t> state_{0};  // the readers inside, whether a writer is or waits for them, and whether anybody waits for the writer
};

}  // namespace anyshape
