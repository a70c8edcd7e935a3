// A region is published in a slot of its pool; threads that have nothing to do join open slots, take parts until none is left, and leave.
// The caller takes parts as well and never waits for a worker that did not join, so a sleeping or preempted worker costs nothing.
#include "runtime/cpu/pool.h"

#include <anyshape/error.h>
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/float_state.h"
#include "base/futex.h"
#include "base/thread_context.h"
#include "runtime/cpu/openmp.h"

namespace anyshape::runtime {
namespace {

constexpr int64_t worker_spin = 100'000;        // nanoseconds that an idle worker watches for work before it sleeps
constexpr int64_t crowded_worker_spin = 2'000;  // the same where threads outnumber processors: somebody else needs the processor
constexpr int64_t pause_only = 5'000;           // nanoseconds of pure spinning before a waiting thread begins to offer its processor
constexpr int64_t caller_spin = 200'000;        // nanoseconds that a caller watches for its last parts before it sleeps

class TaskScope {
 public:
  TaskScope() { this_thread.is_inside_task = true; }
  ~TaskScope() { this_thread.is_inside_task = false; }
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;
};

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

int64_t now_in_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Watches until `done` holds or `limit` nanoseconds have passed; says whether it holds. The clock is read rarely: most waits are short.
template <class Done>
bool spin_until(Done done, int64_t limit) {
  constexpr int pauses_a_round = 16;
  int64_t start = 0;
  for (int round = 0;; ++round) {
    for (int i = 0; i < pauses_a_round; ++i) {
      if (done()) return true;
      pause_briefly();
    }
    const int64_t now = now_in_nanoseconds();
    if (round == 0) start = now;
    if (now - start >= limit) return done();
    if (now - start >= pause_only) std::this_thread::yield();
  }
}

// Handles of threads that a fork left behind: there is nobody to join, and nothing that they own.
void forget(std::vector<std::thread>& gone) {
  for (std::thread& handle : gone) new (&handle) std::thread();
  gone.clear();
}

}  // namespace

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());  // more processors than a cpu_set_t holds
}

Parts::Parts(int64_t count, int64_t grain) : count(std::max<int64_t>(count, 0)) {
  grain = std::max<int64_t>(grain, 1);
  number = this->count == 0 ? 0 : std::clamp<int64_t>(this->count / grain, 1, max_parts);
  unit = grain % 16 == 0 ? 16 : 1;
}

int64_t Parts::begin(int64_t part) const {
  const int64_t units = count / unit;
  // units * part / number without overflow for any count.
  return unit * (units / number * part + units % number * part / number);
}

// One region in flight. Everything but the atomics is written by the claiming caller while the slot is shut and read by threads that joined.
struct alignas(64) Pool::Slot {
  // `state`: the open bit while threads may join, the waiting bit while the caller sleeps, and below them the number of joined workers.
  static constexpr uint32_t open = 1U << 31;
  static constexpr uint32_t waiting = 1U << 30;

  std::atomic<uint32_t> state{0};
  std::atomic<bool> claimed{false};
  Body body = nullptr;
  const void* body_state = nullptr;
  Parts parts{0, 1};
  alignas(64) std::atomic<int64_t> remaining{0};  // parts that nobody has begun; handed out in rising order; below 0 when asked too often
  alignas(64) std::mutex error_mutex;
  std::exception_ptr error;
  int64_t error_part = 0;

  bool join();
  void take_parts();
  void keep_error(int64_t part);
};

bool Pool::Slot::join() {
  uint32_t seen = state.load(std::memory_order_acquire);
  while ((seen & open) != 0 && remaining.load(std::memory_order_relaxed) > 0)
    if (state.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel, std::memory_order_acquire)) return true;
  return false;
}

void Pool::Slot::take_parts() {
  for (;;) {
    const int64_t left = remaining.fetch_sub(1, std::memory_order_relaxed);
    if (left <= 0) return;
    const int64_t part = parts.number - left;
    try {
      body(body_state, parts.begin(part), parts.end(part));
    } catch (...) {
      keep_error(part);
    }
  }
}

// Parts begin in rising order, so every part below a failing one has begun and will end: the lowest failure does not depend on timing.
void Pool::Slot::keep_error(int64_t part) {
  remaining.store(0, std::memory_order_relaxed);
  const std::lock_guard lock(error_mutex);
  if (error && error_part < part) return;
  error = std::current_exception();
  error_part = part;
}

Pool::Pool(int threads) : slots_(new Slot[slot_count]), threads_(threads) {
  if (threads < 1 || threads > max_threads)
    throw ArgumentError(fmt::format("pool: not a number of threads: {}; expected 1 to {}.", threads, max_threads));
  spin_nanoseconds_ = threads <= available_processors() ? worker_spin : crowded_worker_spin;
}

void Pool::start() {
  const std::lock_guard lock(workers_mutex_);
  if (generation_.load() == fork_generation()) return;
  try {
    start_workers();
  } catch (const std::system_error& error) {
    const size_t started = workers_.size();
    stop_workers();
    throw Error(fmt::format("pool: the system refused thread {} of {}: {}. Ask for fewer with ANYSHAPE_THREADS.", started + 1, threads_,
                            error.what()));
  }
  generation_.store(fork_generation());
}

Pool::~Pool() {
  if (generation_.load() != fork_generation()) forget(workers_);
  stop_workers();
}

// No region was in flight when the process forked, so all else is as it was.
void Pool::start_workers() {
  forget(workers_);
  sleepers_.store(0);
  workers_.reserve(static_cast<size_t>(threads_ - 1));
  for (int i = 1; i < threads_; ++i) workers_.emplace_back([this, i] { work_as_worker(i); });
}

// For a region that nobody has started them for, in a child of fork() above all. Where the system gives fewer threads, those do.
void Pool::start_those_there_are() {
  const std::lock_guard lock(workers_mutex_);
  if (generation_.load() == fork_generation()) return;
  try {
    start_workers();
  } catch (const std::system_error&) {
  }
  generation_.store(fork_generation());
}

void Pool::stop_workers() {
  stopping_.store(true);
  epoch_.fetch_add(1);
  wake_all(epoch_);
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
  stopping_.store(false);
}

void Pool::run_alone(const Parts& parts, Body body, const void* state) {
  for (int64_t part = 0; part < parts.number; ++part) body(state, parts.begin(part), parts.end(part));
}

void Pool::run_parts(const Parts& parts, Body body, const void* state) {
  const FlushDenormals flush;
  if (parts.number <= 1 || this_thread.is_inside_task || threads_ == 1) return run_alone(parts, body, state);
  const NoFork whole;
  if (generation_.load(std::memory_order_acquire) != fork_generation()) start_those_there_are();
  Slot* const slot = claim_slot();
  if (slot == nullptr) return run_alone(parts, body, state);
  slot->body = body;
  slot->body_state = state;
  slot->parts = parts;
  slot->remaining.store(parts.number, std::memory_order_relaxed);
  slot->state.store(Slot::open, std::memory_order_release);
  publish(parts.number);
  {
    const TaskScope scope;
    slot->take_parts();
  }
  close(*slot);
  const std::exception_ptr error = std::exchange(slot->error, nullptr);
  slot->claimed.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

// A free slot, or none when more callers than slots are in flight: then the processors are busy anyway and the caller works alone.
Pool::Slot* Pool::claim_slot() {
  for (int i = 0; i < slot_count; ++i) {
    Slot& slot = slots_[i];
    if (!slot.claimed.load(std::memory_order_relaxed) && !slot.claimed.exchange(true, std::memory_order_acquire)) return &slot;
  }
  return nullptr;
}

void Pool::publish(int64_t parts) {
  // A worker counts itself asleep and then looks at epoch_ once more, this thread does the opposite: one of them sees the other.
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) > 0) wake(epoch_, parts - 1);
}

// Shuts the slot and waits for the workers that joined it.
void Pool::close(Slot& slot) {
  if (slot.state.fetch_and(~Slot::open, std::memory_order_acq_rel) == Slot::open) return;
  const auto all_left = [&] { return slot.state.load(std::memory_order_acquire) == 0; };
  if (spin_until(all_left, caller_spin)) return;
  uint32_t seen = slot.state.fetch_or(Slot::waiting, std::memory_order_acq_rel) | Slot::waiting;
  for (; seen != Slot::waiting; seen = slot.state.load(std::memory_order_acquire)) sleep_while(slot.state, seen);
}

void Pool::work_as_worker(int number) {
  const FlushDenormals flush;
  omp_set_num_threads(1);
  NoFork::leave_it_to_others();  // whoever published a region is inside until it is done
  const TaskScope scope;
  while (!stopping_.load(std::memory_order_acquire)) {
    const uint32_t seen = epoch_.load(std::memory_order_acquire);
    if (!help(number % slot_count)) wait_for_work(seen);
  }
}

// Joins the open regions, beginning at a slot that differs between workers so that several callers share them; says whether there was one.
bool Pool::help(int first_slot) {
  bool helped = false;
  for (int i = 0; i < slot_count; ++i) {
    Slot& slot = slots_[(first_slot + i) % slot_count];
    if (!slot.join()) continue;
    slot.take_parts();
    helped = true;
    if (slot.state.fetch_sub(1, std::memory_order_acq_rel) == (Slot::waiting | 1U)) wake_all(slot.state);
  }
  return helped;
}

void Pool::wait_for_work(uint32_t seen) {
  const auto published = [&] { return epoch_.load(std::memory_order_acquire) != seen; };
  if (spin_until(published, spin_nanoseconds_)) return;
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  sleep_while(epoch_, seen);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace anyshape::runtime
