// A hit in the thread's own cache costs one uncontended lock; the lock is there so that another thread can empty the cache. Locks are taken
// in the order registry, thread, shared, and all of them before the process forks. Nothing here is ever destroyed: buffers of static objects are freed after everything else is gone.
#include "tensor/block_cache.h"

#include "base/no_fork.h"
#include "tensor/block_list.h"
#include "tensor/size_class.h"
#include "tensor/system_memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <new>
#include <span>
#include <thread>
#include <utility>

namespace anyshape {
namespace {

constexpr int thread_classes = size_class_of(int64_t{1} << 20);  // those below 1 MiB
constexpr int64_t thread_limit = int64_t{4} << 20;               // bytes a thread keeps to itself
constexpr int64_t thread_blocks = 128;                           // of one class
constexpr int64_t batch_bytes = int64_t{32} << 10;               // fetched from the shared cache at once
constexpr int64_t shared_limit_most = int64_t{2} << 30;
// A request that finds no block of its class takes a larger one that is free, so that a stream of sizes lives in what its largest has left, or
// lets the largest smaller one grow, where the system can do that without clearing its pages again.
// Small ones take up to four times as much. Those of 64 KiB and more take any, as long as what all of them hold in vain stays below a limit: a
// result that is kept for long must not keep many times its size.
constexpr int small_stretch = 8;  // classes
constexpr int stretches_from = size_class_of(int64_t{64} << 10);
constexpr int grows_from_class = size_class_of(grows_from);
constexpr int64_t most_held_in_vain = int64_t{256} << 20;  // bytes
// A stream of growing sizes leaves blocks behind that are too small for all that follows. So, when the system is asked, what is kept beside the
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

struct ThreadCache {
  SpinLock lock;
  std::array<BlockList, thread_classes> lists;
  int64_t cached = 0;
  int64_t live = 0;  // taken less given by this thread; below zero where it frees what others took
  ThreadCache* previous = nullptr;
  ThreadCache* next = nullptr;

  void leave(ThreadCache*& registry) noexcept {
    if (previous != nullptr) previous->next = next;
    if (next != nullptr) next->previous = previous;
    if (registry == this) registry = next;
  }
};

class SharedCache {
 public:
  // Up to `most` blocks of the class; none where there are none.
  BlockList take(int size_class, int64_t most) noexcept {
    const std::lock_guard guard(mutex_);
    return take_locked(size_class, most);
  }

  // One block of the class or, where there is none, of the next larger one that may be taken for it.
  Block take_large(int size_class) noexcept {
    const std::lock_guard guard(mutex_);
    const int last = size_class < stretches_from ? size_class : size_class_count - 1;
    for (int each = size_class; each <= last; ++each) {
      const bool is_threads = each > size_class && each < thread_classes;  // their blocks go back to the threads, uncounted
      if (is_threads || lists_[each].empty()) continue;
      const int64_t in_vain = capacity_of_class(each) - capacity_of_class(size_class);
      if (held_in_vain_ + in_vain > most_held_in_vain) break;
      held_in_vain_ += in_vain;
      bytes_.live += capacity_of_class(each);
      return {take_locked(each, 1).pop(), each};
    }
    return {nullptr, size_class};
  }

  // The largest block below the class that can grow to one of it; none where there is none.
  Block take_smaller(int size_class) noexcept {
    const std::lock_guard guard(mutex_);
    for (int each = size_class - 1; each >= grows_from_class; --each) {
      if (!lists_[each].empty()) return {take_locked(each, 1).pop(), each};
    }
    return {nullptr, size_class};
  }

  void count_live(int64_t bytes) noexcept {
    const std::lock_guard guard(mutex_);
    bytes_.live += bytes;
  }

  // A block that take_large() gave.
  void give_large(const Block& block, int asked_class) noexcept {
    BlockList one;
    one.push(block.pointer);
    const int64_t capacity = capacity_of_class(block.size_class);
    give({&one, 1}, block.size_class, -capacity, capacity - capacity_of_class(asked_class));
  }

  // Keeps the blocks and adds `live` to the bytes taken; where too much is kept, the classes that were longest without use go back to the
  // system.
  void give(std::span<BlockList> lists, int first_class, int64_t live = 0, int64_t in_vain = 0) noexcept {
    {
      const std::lock_guard guard(mutex_);
      bytes_.live += live;
      held_in_vain_ -= in_vain;
      for (size_t i = 0; i < lists.size(); ++i) {
        const int size_class = first_class + static_cast<int>(i);
        if (lists[i].empty()) continue;
        last_use_[size_class] = ++clock_;
        bytes_.cached += lists[i].count() * capacity_of_class(size_class);
        lists_[size_class].splice(lists[i]);
      }
      if (bytes_.cached <= limit_) return;
    }
    evict(limit_);
  }

  // Gives to the system what is kept beyond `most`, the classes that were longest without use first.
  void evict(int64_t most) noexcept {
    std::array<BlockList, size_class_count> evicted;
    {
      const std::lock_guard guard(mutex_);
      while (bytes_.cached > most) {
        const int oldest = oldest_class();
        while (bytes_.cached > most && !lists_[oldest].empty()) {
          evicted[oldest].push(lists_[oldest].pop());
          bytes_.cached -= capacity_of_class(oldest);
        }
      }
    }
    free_all(evicted);
  }

  // The most that was taken at once since the cache was last given back, now that it is `live`.
  int64_t peak(int64_t live) noexcept {
    const std::lock_guard guard(mutex_);
    return peak_ = std::max(peak_, live);
  }

  BlockBytes bytes() noexcept {
    const std::lock_guard guard(mutex_);
    return bytes_;
  }

  int64_t give_back() noexcept {
    std::array<BlockList, size_class_count> freed;
    int64_t bytes = 0;
    {
      const std::lock_guard guard(mutex_);
      std::swap(freed, lists_);
      bytes = std::exchange(bytes_.cached, 0);
      peak_ = 0;
    }
    free_all(freed);
    return bytes;
  }

  // A child takes over what the threads kept that it does not have.
  void lock_all() noexcept {
    registry_mutex.lock();
    for (ThreadCache* cache = registry; cache != nullptr; cache = cache->next) cache->lock.lock();
    mutex_.lock();
  }
  void unlock_all() noexcept {
    mutex_.unlock();
    for (ThreadCache* cache = registry; cache != nullptr; cache = cache->next) cache->lock.unlock();
    registry_mutex.unlock();
  }
  void take_over_all_but(const ThreadCache* own) noexcept {
    for (ThreadCache *cache = registry, *next = nullptr; cache != nullptr; cache = next) {
      next = cache->next;
      if (cache == own) continue;
      for (int size_class = 0; size_class < thread_classes; ++size_class) lists_[size_class].splice(cache->lists[size_class]);
      bytes_.cached += cache->cached;
      bytes_.live += cache->live;
      cache->leave(registry);
      delete cache;
    }
  }

  std::mutex registry_mutex;
  ThreadCache* registry = nullptr;  // the caches of all threads

 private:
  BlockList take_locked(int size_class, int64_t most) noexcept {
    BlockList taken;
    last_use_[size_class] = ++clock_;
    while (taken.count() < most && !lists_[size_class].empty()) taken.push(lists_[size_class].pop());
    bytes_.cached -= taken.count() * capacity_of_class(size_class);
    return taken;
  }

  // Of those that hold blocks, the one longest without use.
  int oldest_class() const noexcept {
    int oldest = 0;
    uint64_t when = UINT64_MAX;
    for (int c = 0; c < size_class_count; ++c) {
      if (lists_[c].empty() || last_use_[c] >= when) continue;
      oldest = c;
      when = last_use_[c];
    }
    return oldest;
  }

  static void free_all(std::array<BlockList, size_class_count>& lists) noexcept {
    for (int c = 0; c < size_class_count; ++c) {
      while (void* block = lists[c].pop()) give_to_system(block, capacity_of_class(c));
    }
  }

  static int64_t shared_limit() noexcept {
    const int64_t quarter = physical_memory() / 4;
    return quarter > 0 ? std::min(quarter, shared_limit_most) : shared_limit_most;
  }

  std::mutex mutex_;
  std::array<BlockList, size_class_count> lists_;
  std::array<uint64_t, size_class_count> last_use_{};
  uint64_t clock_ = 0;
  BlockBytes bytes_;
  int64_t peak_ = 0;
  int64_t held_in_vain_ = 0;  // by large blocks that are more than was asked for
  const int64_t limit_ = shared_limit();
};

SharedCache& shared_cache() noexcept {
  alignas(SharedCache) static std::byte storage[sizeof(SharedCache)];
  static auto* cache = new (storage) SharedCache;
  return *cache;
}

// Plain thread-local words: they stay readable while a thread's other objects are destroyed.
constinit thread_local ThreadCache* current_cache = nullptr;
constinit thread_local bool thread_ended = false;

[[maybe_unused]] const bool registered = [] {
  shared_cache();  // made while nobody can fork
  add_around_fork({.before = [] { shared_cache().lock_all(); },
                   .after =
                       [](bool in_child) {
                         if (in_child) shared_cache().take_over_all_but(current_cache);
                         shared_cache().unlock_all();
                       }});
  return true;
}();

void empty_into_shared(ThreadCache& cache, int64_t live = 0) noexcept {
  std::array<BlockList, thread_classes> lists;
  {
    const std::lock_guard guard(cache.lock);
    std::swap(lists, cache.lists);
    cache.cached = 0;
  }
  shared_cache().give(lists, 0, live);
}

void empty_all_into_shared() noexcept {
  SharedCache& shared = shared_cache();
  const std::lock_guard guard(shared.registry_mutex);
  for (ThreadCache* cache = shared.registry; cache != nullptr; cache = cache->next) empty_into_shared(*cache);
}

struct ThreadEnd {
  ~ThreadEnd() {
    ThreadCache* cache = current_cache;
    thread_ended = true;
    current_cache = nullptr;
    SharedCache& shared = shared_cache();
    {
      // Counted at once with leaving the registry, so that nobody sees its bytes twice or not at all.
      const std::lock_guard guard(shared.registry_mutex);
      cache->leave(shared.registry);
      empty_into_shared(*cache, cache->live);
    }
    delete cache;
  }
};

ThreadCache* make_thread_cache() noexcept {
  auto* cache = new (std::nothrow) ThreadCache;
  if (cache == nullptr) return nullptr;
  current_cache = cache;
  static thread_local ThreadEnd at_thread_end;
  static_cast<void>(at_thread_end);
  SharedCache& shared = shared_cache();
  const std::lock_guard guard(shared.registry_mutex);
  cache->next = shared.registry;
  if (cache->next != nullptr) cache->next->previous = cache;
  shared.registry = cache;
  return cache;
}

// Null while the thread ends, or where there is no memory for a cache: the shared one serves then.
ThreadCache* thread_cache() noexcept {
  if (current_cache != nullptr) return current_cache;
  return thread_ended ? nullptr : make_thread_cache();
}

// Before a block that came from the system is counted as taken.
void give_back_surplus(int64_t fresh) noexcept {
  SharedCache& shared = shared_cache();
  const BlockBytes held = count_block_bytes();
  const int64_t live = held.live + fresh, peak = shared.peak(live), most = peak + most_kept_beside(peak) - live;
  if (held.cached <= most) return;
  const int64_t of_threads = held.cached - shared.bytes().cached;
  if (of_threads > most) empty_all_into_shared();
  shared.evict(of_threads > most ? most : most - of_threads);
}

void* take_fresh(int size_class) noexcept {
  const int64_t capacity = capacity_of_class(size_class);
  const Block smaller = shared_cache().take_smaller(size_class);
  void* block = smaller.pointer != nullptr ? grow_from_system(smaller.pointer, capacity_of_class(smaller.size_class), capacity)
                                           : take_from_system(capacity);
  if (block == nullptr) {
    give_back_cached_blocks();
    block = take_from_system(capacity);
  }
  if (block != nullptr) give_back_surplus(capacity);
  return block;
}

// Large ones, and small ones where the thread has no cache.
Block take_shared(int size_class) noexcept {
  Block block = shared_cache().take_large(size_class);
  if (block.pointer != nullptr) return block;
  block.pointer = take_fresh(size_class);
  if (block.pointer != nullptr) shared_cache().count_live(capacity_of_class(size_class));
  return block;
}

// One of a class in [first, last), taken from the thread's own cache. Under its lock.
Block take_own(ThreadCache& cache, int first, int last) noexcept {
  for (int size_class = first; size_class < last; ++size_class) {
    if (void* pointer = cache.lists[size_class].pop()) {
      const int64_t capacity = capacity_of_class(size_class);
      cache.live += capacity;
      cache.cached -= capacity;
      return {pointer, size_class};
    }
  }
  return {nullptr, first};
}

// One that another thread keeps: who frees a block need not be who takes the next one. It counts as taken by nobody yet.
Block take_from_others(int first, int last) noexcept {
  SharedCache& shared = shared_cache();
  const std::lock_guard guard(shared.registry_mutex);
  for (ThreadCache* cache = shared.registry; cache != nullptr; cache = cache->next) {
    const std::lock_guard cache_guard(cache->lock);
    const Block block = take_own(*cache, first, last);
    if (block.pointer == nullptr) continue;
    cache->live -= capacity_of_class(block.size_class);
    return block;
  }
  return {nullptr, first};
}

// The thread has none: a batch from the shared cache, else one of another thread's, else a larger one of any, else one from the system.
Block take_missed(ThreadCache& cache, int size_class) noexcept {
  const int end = std::min(size_class + small_stretch + 1, thread_classes);
  BlockList batch = shared_cache().take(size_class, std::max<int64_t>(1, batch_bytes / capacity_of_class(size_class)));
  Block block{batch.pop(), size_class};
  if (block.pointer == nullptr) block = take_from_others(size_class, size_class + 1);
  if (block.pointer == nullptr) block = take_from_others(size_class, end);
  if (block.pointer == nullptr && size_class >= stretches_from) {
    block = shared_cache().take_large(size_class);  // and counted there
    if (block.pointer != nullptr) return block;
  }
  if (block.pointer == nullptr) block.pointer = take_fresh(size_class);
  if (block.pointer == nullptr) return block;
  const std::lock_guard guard(cache.lock);
  cache.live += capacity_of_class(block.size_class);
  cache.cached += batch.count() * capacity_of_class(size_class);
  cache.lists[size_class].splice(batch);
  return block;
}

}  // namespace

Block take_block(int size_class) noexcept {
  ThreadCache* cache = size_class < thread_classes ? thread_cache() : nullptr;
  if (cache == nullptr) return take_shared(size_class);
  {
    const std::lock_guard guard(cache->lock);
    if (const Block block = take_own(*cache, size_class, size_class + 1); block.pointer != nullptr) return block;
  }
  return take_missed(*cache, size_class);
}

void give_block(const Block& block, int asked_class) noexcept {
  const int64_t capacity = capacity_of_class(block.size_class);
  ThreadCache* cache = block.size_class < thread_classes ? thread_cache() : nullptr;
  if (cache == nullptr) return shared_cache().give_large(block, block.size_class < thread_classes ? block.size_class : asked_class);
  bool full = false;
  {
    const std::lock_guard guard(cache->lock);
    BlockList& list = cache->lists[block.size_class];
    list.push(block.pointer);
    cache->live -= capacity;
    cache->cached += capacity;
    full = cache->cached > thread_limit || list.count() > thread_blocks;
  }
  if (full) empty_into_shared(*cache);
}

BlockBytes count_block_bytes() {
  SharedCache& shared = shared_cache();
  const std::lock_guard guard(shared.registry_mutex);
  BlockBytes total = shared.bytes();
  for (ThreadCache* cache = shared.registry; cache != nullptr; cache = cache->next) {
    const std::lock_guard cache_guard(cache->lock);
    total.live += cache->live;
    total.cached += cache->cached;
  }
  return total;
}

int64_t give_back_cached_blocks() noexcept {
  empty_all_into_shared();
  return shared_cache().give_back();
}

}  // namespace anyshape
