// The kernel's futex, for threads of one process.
#include "base/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>

namespace anyshape {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

void sleep_while(const std::atomic<uint32_t>& word, uint32_t seen, std::chrono::nanoseconds limit) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec most{.tv_sec = static_cast<time_t>(seconds.count()), .tv_nsec = static_cast<long>((limit - seconds).count())};
  const bool for_ever = limit == std::chrono::nanoseconds::max();
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, for_ever ? nullptr : &most, nullptr, 0);
}

void wake(const std::atomic<uint32_t>& word, int64_t most) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, static_cast<int>(std::min<int64_t>(most, INT_MAX)), nullptr, nullptr, 0);
}

void wake_all(const std::atomic<uint32_t>& word) noexcept { wake(word, INT_MAX); }

}  // namespace anyshape
