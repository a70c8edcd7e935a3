// The thread pool that runs kernels: the caller and its workers take parts of an index range. How a range is cut depends on its size only,
// never on the number of threads, so results have the same bits on any machine. Workers spin for a bounded time, then sleep.
#pragma once
#include "base/fork_mutex.h"

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace anyshape::runtime {

// The cut of [0, count): at most `max_parts` parts of at least `grain` indices. Begins are multiples of 16 where the grain is, which keeps
// vector accesses of aligned buffers aligned in every part.
struct Parts {
  static constexpr int64_t max_parts = 128;
  Parts(int64_t count, int64_t grain);
  int64_t begin(int64_t part) const;
  int64_t end(int64_t part) const { return part + 1 == number ? count : begin(part + 1); }

  int64_t count;
  int64_t number;  // of parts; 0 where count is 0
  int64_t unit;    // begins are multiples of it
};

// The processors this process may run on.
int available_processors();

class Pool {
 public:
  // A pool of `threads` threads: the calling one and threads - 1 workers, which start() or the first region starts and the pool's end joins.
  // 1 <= threads <= max_threads, else ArgumentError.
  explicit Pool(int threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  static constexpr int max_threads = 1024;
  int threads() const { return threads_; }

  // Starts the workers of this process unless they are there. Error where the system refuses one.
  void start();

  // Calls body(begin, end) for every part of [0, count) and returns when all are done. Any number of threads may call at the same time; inside
  // a task the parts run one after the other on that thread. Bodies run with denormals flushed. Where bodies throw, parts not yet begun are
  // dropped and the exception of the lowest part is thrown here.
  template <class F>
  void run(int64_t count, int64_t grain, F&& body) {
    using Callable = std::remove_reference_t<F>;
    run_parts(
        Parts(count, grain),
        [](const void* state, int64_t begin, int64_t end) { (*const_cast<Callable*>(static_cast<const Callable*>(state)))(begin, end); },
        &body);
  }

  // The process's pool: as many threads as processors are available to it, or as the environment variable ANYSHAPE_THREADS says.
  static Pool& shared();
  // Makes shared() a pool of `threads` threads. Pools stay alive, so a reference taken before remains good.
  static void set_thread_count(int threads);

 private:
  using Body = void (*)(const void* state, int64_t begin, int64_t end);
  struct Slot;
  static constexpr int slot_count = 8;
  static constexpr uint32_t no_generation = ~0U;

  static void run_alone(const Parts& parts, Body body, const void* state);
  void run_parts(const Parts& parts, Body body, const void* state);
  Slot* claim_slot();
  void publish(int64_t parts);
  void close(Slot& slot);
  void work_as_worker(int number);
  bool help(int first_slot);
  void wait_for_work(uint32_t seen);
  void start_workers();
  void start_those_there_are();
  void stop_workers();

  std::unique_ptr<Slot[]> slots_;
  int64_t spin_nanoseconds_;
  alignas(64) std::atomic<uint32_t> epoch_{0};  // grows with every published region: what idle workers watch
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  int threads_;
  std::atomic<uint32_t> generation_{no_generation};  // the process that the workers are of: a child of fork() makes its own
  ForkMutex workers_mutex_;
  std::vector<std::thread> workers_;
};

// shared() is a pool of `threads` threads as long as this lives: for tests and benchmarks.
class ScopedPool {
 public:
  explicit ScopedPool(int threads) : before_(Pool::shared().threads()) { Pool::set_thread_count(threads); }
  ~ScopedPool() { Pool::set_thread_count(before_); }
  ScopedPool(const ScopedPool&) = delete;
  ScopedPool& operator=(const ScopedPool&) = delete;
  Pool& pool() const { return Pool::shared(); }

 private:
  int before_;
};

}  // namespace anyshape::runtime
