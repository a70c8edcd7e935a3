// Sleeping until a word changes. In a child of fork() a condition variable waits for the threads that slept on it in the parent; this does not:
// the kernel knows who sleeps.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace anyshape {

// Returns when woken, when `word` is no longer `seen`, after `limit`, or for no reason: look again.
void sleep_while(const std::atomic<uint32_t>& word, uint32_t seen,
                 std::chrono::nanoseconds limit = std::chrono::nanoseconds::max()) noexcept;
void wake(const std::atomic<uint32_t>& word, int64_t most) noexcept;
void wake_all(const std::atomic<uint32_t>& word) noexcept;

}  // namespace anyshape
