// The process's pool: made at first use, sized by the processors available or by ANYSHAPE_THREADS, and replaceable.
#include <anyshape/error.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/fork_mutex.h"
#include "runtime/cpu/pool.h"

namespace anyshape::runtime {
namespace {

struct SharedPools {
  ForkMutex mutex;
  std::map<int, std::unique_ptr<Pool>> by_threads;
};
constinit std::atomic<Pool*> current_pool{nullptr};

// Never destroyed: a forked child that ends has no workers to join, and tasks may outlive the destructors of static objects.
SharedPools& shared_pools() {
  const NoFork whole;  // so that no child waits for another thread to make it
  static auto* pools = new SharedPools;
  return *pools;
}

int default_thread_count() {
  const char* text = std::getenv("ANYSHAPE_THREADS");
  if (text == nullptr || *text == '\0') return available_processors();
  int threads = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, problem] = std::from_chars(text, end, threads);
  if (problem != std::errc() || stop != end || threads < 1 || threads > Pool::max_threads)
    throw ArgumentError(fmt::format("ANYSHAPE_THREADS: not a number of threads: \"{}\"; expected 1 to {}.", text, Pool::max_threads));
  return threads;
}

}  // namespace

Pool& Pool::shared() {
  if (Pool* const current = current_pool.load(std::memory_order_acquire)) return *current;
  const int threads = default_thread_count();
  SharedPools& pools = shared_pools();
  const std::lock_guard lock(pools.mutex);
  if (Pool* const made_meanwhile = current_pool.load(std::memory_order_acquire)) return *made_meanwhile;
  std::unique_ptr<Pool>& pool = pools.by_threads[threads];
  if (!pool) pool = std::make_unique<Pool>(threads);
  pool->start();
  current_pool.store(pool.get(), std::memory_order_release);
  return *pool;
}

void Pool::set_thread_count(int threads) {
  SharedPools& pools = shared_pools();
  const std::lock_guard lock(pools.mutex);
  std::unique_ptr<Pool>& pool = pools.by_threads[threads];
  if (!pool) pool = std::make_unique<Pool>(threads);
  pool->start();
  current_pool.store(pool.get(), std::memory_order_release);
}

}  // namespace anyshape::runtime
