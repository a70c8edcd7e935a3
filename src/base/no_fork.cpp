// Threads inside are counted on a few cache lines, so that they do not meet; who forks closes the gate and waits for the counts to be its own.
#include "base/no_fork.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <thread>
#include <utility>

namespace anyshape {
namespace {

struct alignas(64) Count {
  std::atomic<int32_t> inside{0};
};
constinit std::array<Count, 32> counts;
constinit std::atomic<uint32_t> next_count{0};
[[gnu::tls_model("initial-exec")]] constinit thread_local Count* own_count = nullptr;

constinit std::atomic<uint32_t> gate_is_closed{0};
constinit std::atomic<uint32_t> generation{0};

constinit std::atomic<uint64_t> next_thread{1};
[[gnu::tls_model("initial-exec")]] constinit thread_local uint64_t own_number = 0;
constinit std::atomic<uint64_t> came_along{0};

constexpr int32_t most_calls = 8;
constinit std::array<AroundFork, most_calls> calls;
constinit std::atomic<int32_t> call_count{0};

void wait_a_little(int round) noexcept {
  if (round < 1000) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

int32_t count_inside() noexcept {
  int32_t inside = 0;
  for (const Count& count : counts) inside += count.inside.load(std::memory_order_seq_cst);
  return inside;
}

// Another thread's fork is waited for: only one at a time has the gate.
void close_gate() noexcept {
  for (int round = 0;; ++round) {
    uint32_t open = 0;
    if (gate_is_closed.compare_exchange_strong(open, 1, std::memory_order_seq_cst)) break;
    wait_a_little(round);
  }
  const int32_t own = this_thread.no_fork.is_counted ? 1 : 0;  // a thread may fork while it is inside
  for (int round = 0; count_inside() > own; ++round) wait_a_little(round);
}

void open_gate() noexcept {
  gate_is_closed.store(0, std::memory_order_release);
  gate_is_closed.notify_all();
}

}  // namespace

void NoFork::enter() noexcept {
  if (own_count == nullptr) own_count = &counts[next_count.fetch_add(1, std::memory_order_relaxed) % counts.size()];
  std::atomic<int32_t>& inside = own_count->inside;
  // In one order with what the forking thread does: it sees the count, or this thread sees the gate.
  inside.fetch_add(1, std::memory_order_seq_cst);
  while (gate_is_closed.load(std::memory_order_seq_cst) != 0) [[unlikely]] {
    inside.fetch_sub(1, std::memory_order_seq_cst);
    gate_is_closed.wait(1, std::memory_order_acquire);
    inside.fetch_add(1, std::memory_order_seq_cst);
  }
  this_thread.no_fork.is_counted = true;
}

void NoFork::leave() noexcept {
  this_thread.no_fork.is_counted = false;
  own_count->inside.fetch_sub(1, std::memory_order_seq_cst);
  if (this_thread.no_fork.held != nullptr) [[unlikely]]
    end_held();
}

void NoFork::end_outside(EndsOutside* given) noexcept {
  NoForkScopes& scopes = this_thread.no_fork;
  if (scopes.depth == 0 || scopes.is_for_others) {  // such a thread is never outside
    delete given;
  } else {
    given->next = std::exchange(scopes.held, given);
  }
}

// In the order in which they were given. What they run may be inside again, and leave more.
void NoFork::end_held() noexcept {
  EndsOutside* in_order = nullptr;
  for (EndsOutside* each = std::exchange(this_thread.no_fork.held, nullptr); each != nullptr;) {
    EndsOutside* const earlier = std::exchange(each->next, in_order);
    in_order = std::exchange(each, earlier);
  }
  while (in_order != nullptr) delete std::exchange(in_order, in_order->next);
}

uint32_t fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

uint64_t thread_number() noexcept {
  if (own_number == 0) own_number = next_thread.fetch_add(1, std::memory_order_relaxed);
  return own_number;
}
uint64_t thread_that_forked() noexcept { return came_along.load(std::memory_order_relaxed); }

void add_around_fork(const AroundFork& added) noexcept {
  const NoFork whole;
  const int32_t number = call_count.load();
  assert(number < most_calls);  // called while the library is loaded, by one thread
  calls[static_cast<size_t>(number)] = added;
  call_count.store(number + 1);
}

namespace {

void before_fork() {
  close_gate();
  for (int32_t i = call_count.load(); i-- > 0;) calls[static_cast<size_t>(i)].before();
}

void after_fork(bool in_child) {
  if (in_child) {
    generation.fetch_add(1, std::memory_order_relaxed);
    came_along.store(thread_number(), std::memory_order_relaxed);
    for (Count& count : counts) count.inside.store(0, std::memory_order_relaxed);
    if (this_thread.no_fork.is_counted) own_count->inside.store(1, std::memory_order_relaxed);
  }
  for (int32_t i = 0; i < call_count.load(); ++i) calls[static_cast<size_t>(i)].after(in_child);
  open_gate();
}

[[maybe_unused]] const bool registered = pthread_atfork(before_fork, [] { after_fork(false); }, [] { after_fork(true); }) == 0;

}  // namespace
}  // namespace anyshape
