// A caching allocator: free blocks are kept for reuse, by a cache per thread for small ones, in front of a shared, bounded one for all. It asks its
// source for the memory itself and never touches it.
#pragma once
#include "tensor/free_blocks.h"
#include "tensor/memory_source.h"
#include "tensor/shared_blocks.h"

#include <anyshape/memory.h>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace anyshape {

// Lasts as long as the process, as its threads' caches and its blocks may. Who makes one has it locked around forks, where children use it.
class Memory {
 public:
  // `device` as in Buffer.
  constexpr Memory(MemorySource& source, int32_t device) : source_(source), device_(device), shared_(source) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  int32_t device() const { return device_; }
  MemorySource& source() const { return source_; }

  // Of the class that is asked for, or a larger one that was free; null where the source has no more, even after the cache was given back.
  Block* take(int size_class) noexcept;
  static void give(Block& block, int asked_class) noexcept;

  MemoryUse use();
  int64_t trim() noexcept;  // gives what is kept back to the source; the bytes

  // The n-th request from now (1 is the next) fails once; 0 switches it off.
  void fail_after(int64_t n) noexcept { failure_countdown_.store(n, std::memory_order_relaxed); }
  bool fails_now() noexcept { return failure_countdown_.load(std::memory_order_relaxed) > 0 && count_down(); }

  void before_fork() noexcept;
  void after_fork(bool in_child) noexcept;

 private:
  struct ThreadCache;
  struct ThreadEnd;
  class CachesOfThread;

  ThreadCache* cache_of_thread() noexcept;
  ThreadCache* make_thread_cache() noexcept;
  void leave(ThreadCache& cache) noexcept;
  Block* take_shared(int size_class) noexcept;
  Block* take_missed(ThreadCache& cache, int size_class) noexcept;
  Block* take_from_others(int first, int last) noexcept;
  Block* take_fresh(int size_class) noexcept;
  Block* take_from_source(int size_class) noexcept;
  Block* grow(Block& block, int size_class) noexcept;
  void give_back_surplus(int64_t fresh) noexcept;
  void empty_into_shared(ThreadCache& cache, int64_t live = 0) noexcept;
  void empty_all_into_shared() noexcept;
  BlockBytes count_bytes();
  bool count_down() noexcept;

  MemorySource& source_;
  const int32_t device_;
  std::atomic<int64_t> failure_countdown_{0};
  std::atomic<int64_t> asked_{0};  // times the source was
  std::mutex registry_mutex_;
  ThreadCache* registry_ = nullptr;  // the caches of all threads
  SharedBlocks shared_;
};

}  // namespace anyshape
