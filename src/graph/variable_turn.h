// Whoever reads a variable and assigns it has its turn: the next one reads what this one has assigned. Readers beside it wait for nobody. A lock of
// four bytes; two atomic exchanges where nobody waits. Taken inside a NoFork only.
#pragma once
#include <atomic>
#include <cstdint>

namespace anyshape {

class VariableTurn {
 public:
  void lock() noexcept {
    uint32_t seen = nobody;
    if (!state_.compare_exchange_strong(seen, taken, std::memory_order_acquire, std::memory_order_relaxed)) wait();
  }
  void unlock() noexcept {
    if (state_.exchange(nobody, std::memory_order_release) == awaited) state_.notify_one();
  }

 private:
  static constexpr uint32_t nobody = 0, taken = 1, awaited = 2;

  // Whoever had to wait takes it as awaited: there may be others.
  void wait() noexcept {
    while (state_.exchange(awaited, std::memory_order_acquire) != nobody) state_.wait(awaited, std::memory_order_relaxed);
  }

  std::atomic<uint32_t> state_{nobody};
};

}  // namespace anyshape
