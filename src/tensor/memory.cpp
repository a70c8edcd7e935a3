// A hit in the thread's own cache costs one uncontended lock; the lock is there so that another thread can empty the cache. Locks are taken
// in the order registry, thread, shared, and all of them before the process forks. Nothing here is ever destroyed: buffers of static objects are
// freed after everything else is gone.
#include "tensor/memory.h"

#include "tensor/size_class.h"

#include <algorithm>
#include <array>
#include <new>
#include <thread>
#include <utility>

namespace anyshape {
namespace {

constexpr int64_t thread_limit = int64_t{4} << 20;  // bytes a thread keeps to itself
constexpr int64_t thread_blocks = 128;              // of one class
constexpr int64_t batch_bytes = int64_t{32} << 10;  // fetched from the shared cache at once
// A stream of growing sizes leaves blocks behind that are too small for all that follows. So, when the source is asked, what is kept beside the
// most that was ever taken at once is held to half of that, and to what threads may keep to themselves.
constexpr int64_t most_kept_beside(int64_t peak) { return peak / 2 + thread_limit; }

class SpinLock {
 public:
  void lock() noexcept {
    while (taken_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace

struct Memory::ThreadCache {
  explicit ThreadCache(Memory& of) : memory(of) {}
  Memory& memory;
  ThreadCache* next_of_thread = nullptr;  // of another memory
  SpinLock lock;
  std::array<FreeBlocks, thread_classes> lists;
  int64_t cached = 0;
  int64_t live = 0;  // taken less given by this thread; below zero where it frees what others took
  ThreadCache* previous = nullptr;
  ThreadCache* next = nullptr;

  // One of a class in [first, last). Under the lock.
  Block* take(int first, int last) noexcept {
    for (int size_class = first; size_class < last; ++size_class) {
      if (Block* const block = lists[size_class].pop()) {
        const int64_t capacity = capacity_of_class(size_class);
        live += capacity;
        cached -= capacity;
        return block;
      }
    }
    return nullptr;
  }
};

// Plain thread-local words: they stay readable while a thread's other objects are destroyed.
class Memory::CachesOfThread {
 public:
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local ThreadCache* first = nullptr;  // nearly always the host's, alone
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local bool ended = false;
};

struct Memory::ThreadEnd {
  ~ThreadEnd() {
    CachesOfThread::ended = true;
    for (ThreadCache* cache = std::exchange(CachesOfThread::first, nullptr); cache != nullptr;) {
      ThreadCache* const next = cache->next_of_thread;
      cache->memory.leave(*cache);
      delete cache;
      cache = next;
    }
  }
};

// Null while the thread ends, or where there is no memory for a cache: the shared one serves then.
Memory::ThreadCache* Memory::cache_of_thread() noexcept {
  for (ThreadCache* cache = CachesOfThread::first; cache != nullptr; cache = cache->next_of_thread) {
    if (&cache->memory == this) return cache;
  }
  return CachesOfThread::ended ? nullptr : make_thread_cache();
}

[[gnu::noinline]] Memory::ThreadCache* Memory::make_thread_cache() noexcept {
  auto* cache = new (std::nothrow) ThreadCache(*this);
  if (cache == nullptr) return nullptr;
  cache->next_of_thread = std::exchange(CachesOfThread::first, cache);
  static thread_local ThreadEnd at_thread_end;
  static_cast<void>(at_thread_end);
  const std::lock_guard guard(registry_mutex_);
  cache->next = registry_;
  if (cache->next != nullptr) cache->next->previous = cache;
  registry_ = cache;
  return cache;
}

// Counted at once with leaving the registry, so that nobody sees its bytes twice or not at all.
void Memory::leave(ThreadCache& cache) noexcept {
  const std::lock_guard guard(registry_mutex_);
  if (cache.previous != nullptr) cache.previous->next = cache.next;
  if (cache.next != nullptr) cache.next->previous = cache.previous;
  if (registry_ == &cache) registry_ = cache.next;
  empty_into_shared(cache, cache.live);
}

void Memory::empty_into_shared(ThreadCache& cache, int64_t live) noexcept {
  std::array<FreeBlocks, thread_classes> lists;
  {
    const std::lock_guard guard(cache.lock);
    std::swap(lists, cache.lists);
    cache.cached = 0;
  }
  shared_.give(lists, 0, live);
}

void Memory::empty_all_into_shared() noexcept {
  const std::lock_guard guard(registry_mutex_);
  for (ThreadCache* cache = registry_; cache != nullptr; cache = cache->next) empty_into_shared(*cache);
}

// Before a block that came from the source is counted as taken.
void Memory::give_back_surplus(int64_t fresh) noexcept {
  const BlockBytes held = count_bytes();
  const int64_t live = held.live + fresh, peak = shared_.peak(live), most = peak + most_kept_beside(peak) - live;
  if (held.cached <= most) return;
  const int64_t of_threads = held.cached - shared_.bytes().cached;
  if (of_threads > most) empty_all_into_shared();
  shared_.evict(of_threads > most ? most : most - of_threads);
}

Block* Memory::take_from_source(int size_class) noexcept {
  auto* const block = new (std::nothrow) Block{.memory = this, .pointer = nullptr, .size_class = size_class};
  if (block == nullptr) return nullptr;
  asked_.fetch_add(1, std::memory_order_relaxed);
  block->pointer = source_.take(capacity_of_class(size_class));
  if (block->pointer != nullptr) return block;
  delete block;
  return nullptr;
}

Block* Memory::grow(Block& block, int size_class) noexcept {
  asked_.fetch_add(1, std::memory_order_relaxed);
  block.pointer = source_.grow(block.pointer, capacity_of_class(block.size_class), capacity_of_class(size_class));
  block.size_class = size_class;
  if (block.pointer != nullptr) return &block;
  delete &block;
  return nullptr;
}

Block* Memory::take_fresh(int size_class) noexcept {
  Block* const smaller = shared_.take_smaller(size_class);
  Block* block = smaller != nullptr ? grow(*smaller, size_class) : take_from_source(size_class);
  if (block == nullptr) {
    trim();
    block = take_from_source(size_class);
  }
  if (block != nullptr) give_back_surplus(capacity_of_class(size_class));
  return block;
}

// Large ones, and small ones where the thread has no cache.
Block* Memory::take_shared(int size_class) noexcept {
  Block* block = shared_.take_large(size_class);
  if (block != nullptr) return block;
  block = take_fresh(size_class);
  if (block != nullptr) shared_.count_live(capacity_of_class(size_class));
  return block;
}

// One that another thread keeps: who frees a block need not be who takes the next one. It counts as taken by nobody yet.
Block* Memory::take_from_others(int first, int last) noexcept {
  const std::lock_guard guard(registry_mutex_);
  for (ThreadCache* cache = registry_; cache != nullptr; cache = cache->next) {
    const std::lock_guard cache_guard(cache->lock);
    Block* const block = cache->take(first, last);
    if (block == nullptr) continue;
    cache->live -= capacity_of_class(block->size_class);
    return block;
  }
  return nullptr;
}

// The thread has none: a batch from the shared cache, else one of another thread's, else a larger one of any, else one from the source.
Block* Memory::take_missed(ThreadCache& cache, int size_class) noexcept {
  const int end = std::min(size_class + small_stretch + 1, thread_classes);
  FreeBlocks batch = shared_.take(size_class, std::max<int64_t>(1, batch_bytes / capacity_of_class(size_class)));
  Block* block = batch.pop();
  if (block == nullptr) block = take_from_others(size_class, size_class + 1);
  if (block == nullptr) block = take_from_others(size_class, end);
  if (block == nullptr && size_class >= stretches_from) {
    block = shared_.take_large(size_class);  // and counted there
    if (block != nullptr) return block;
  }
  if (block == nullptr) block = take_fresh(size_class);
  if (block == nullptr) return nullptr;
  const std::lock_guard guard(cache.lock);
  cache.live += capacity_of_class(block->size_class);
  cache.cached += batch.count() * capacity_of_class(size_class);
  cache.lists[size_class].splice(batch);
  return block;
}

Block* Memory::take(int size_class) noexcept {
  ThreadCache* const cache = size_class < thread_classes ? cache_of_thread() : nullptr;
  if (cache == nullptr) return take_shared(size_class);
  {
    const std::lock_guard guard(cache->lock);
    if (Block* const block = cache->take(size_class, size_class + 1)) return block;
  }
  return take_missed(*cache, size_class);
}

void Memory::give(Block& block, int asked_class) noexcept {
  Memory& memory = *block.memory;
  const int size_class = block.size_class;
  ThreadCache* const cache = size_class < thread_classes ? memory.cache_of_thread() : nullptr;
  if (cache == nullptr) return memory.shared_.give_large(block, size_class < thread_classes ? size_class : asked_class);
  const int64_t capacity = capacity_of_class(size_class);
  bool full = false;
  {
    const std::lock_guard guard(cache->lock);
    FreeBlocks& list = cache->lists[size_class];
    list.push(block);
    cache->live -= capacity;
    cache->cached += capacity;
    full = cache->cached > thread_limit || list.count() > thread_blocks;
  }
  if (full) memory.empty_into_shared(*cache);
}

BlockBytes Memory::count_bytes() {
  const std::lock_guard guard(registry_mutex_);
  BlockBytes total = shared_.bytes();
  for (ThreadCache* cache = registry_; cache != nullptr; cache = cache->next) {
    const std::lock_guard cache_guard(cache->lock);
    total.live += cache->live;
    total.cached += cache->cached;
  }
  return total;
}

MemoryUse Memory::use() {
  const BlockBytes bytes = count_bytes();
  return {.live_bytes = bytes.live, .cached_bytes = bytes.cached, .system_allocations = asked_.load(std::memory_order_relaxed)};
}

int64_t Memory::trim() noexcept {
  empty_all_into_shared();
  return shared_.give_back();
}

bool Memory::count_down() noexcept {
  int64_t left = failure_countdown_.load(std::memory_order_relaxed);
  while (left > 0 && !failure_countdown_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) {
  }
  return left == 1;
}

void Memory::before_fork() noexcept {
  registry_mutex_.lock();
  for (ThreadCache* cache = registry_; cache != nullptr; cache = cache->next) cache->lock.lock();
  shared_.lock();
}

// A child takes over what the threads kept that it does not have.
void Memory::after_fork(bool in_child) noexcept {
  if (in_child) {
    ThreadCache* own = nullptr;
    for (ThreadCache *cache = registry_, *next = nullptr; cache != nullptr; cache = next) {
      next = cache->next;
      bool is_own = false;
      for (const ThreadCache* each = CachesOfThread::first; each != nullptr; each = each->next_of_thread) is_own |= each == cache;
      if (is_own) {
        own = cache;
        continue;
      }
      shared_.take_over(cache->lists, {.live = cache->live, .cached = cache->cached});
      delete cache;
    }
    registry_ = own;
    if (own != nullptr) own->previous = own->next = nullptr;
  }
  shared_.unlock();
  for (ThreadCache* cache = registry_; cache != nullptr; cache = cache->next) cache->lock.unlock();
  registry_mutex_.unlock();
}

}  // namespace anyshape
