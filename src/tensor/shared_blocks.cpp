// Lists under one lock, and when what they hold goes back to the source.
#include "tensor/shared_blocks.h"

#include <algorithm>
#include <utility>

namespace anyshape {
namespace {

// Bytes. Where calls take gigabytes, the arena of one size stands in that of a size a few times as large.
constexpr int64_t most_held_in_vain(int64_t peak) { return std::max(int64_t{256} << 20, peak / 2); }

}  // namespace

FreeBlocks SharedBlocks::take(int size_class, int64_t most) noexcept {
  const std::lock_guard guard(mutex_);
  return take_locked(size_class, most);
}

Block* SharedBlocks::take_large(int size_class) noexcept {
  const std::lock_guard guard(mutex_);
  const int last = size_class < stretches_from ? size_class : size_class_count - 1;
  for (int each = size_class; each <= last; ++each) {
    const bool is_threads = each > size_class && each < thread_classes;  // their blocks go back to the threads, uncounted
    if (is_threads || lists_[each].empty()) continue;
    const int64_t in_vain = capacity_of_class(each) - capacity_of_class(size_class);
    if (held_in_vain_ + in_vain > most_held_in_vain(peak_)) break;
    held_in_vain_ += in_vain;
    bytes_.live += capacity_of_class(each);
    return take_locked(each, 1).pop();
  }
  return nullptr;
}

Block* SharedBlocks::take_smaller(int size_class) noexcept {
  const int64_t grows_from = source_.grows_from();
  if (grows_from == 0) return nullptr;
  const std::lock_guard guard(mutex_);
  for (int each = size_class - 1, last = size_class_of(grows_from); each >= last; --each) {
    if (!lists_[each].empty()) return take_locked(each, 1).pop();
  }
  return nullptr;
}

void SharedBlocks::give_large(Block& block, int asked_class) noexcept {
  const int size_class = block.size_class;
  FreeBlocks one;
  one.push(block);
  const int64_t capacity = capacity_of_class(size_class);
  give({&one, 1}, size_class, -capacity, capacity - capacity_of_class(asked_class));
}

void SharedBlocks::give(std::span<FreeBlocks> lists, int first_class, int64_t live, int64_t in_vain) noexcept {
  const int64_t limit = source_.most_kept();
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
    if (bytes_.cached <= limit) return;
  }
  evict(limit);
}

void SharedBlocks::evict(int64_t most) noexcept {
  std::array<FreeBlocks, size_class_count> evicted;
  {
    const std::lock_guard guard(mutex_);
    while (bytes_.cached > most) {
      const int oldest = oldest_class();
      while (bytes_.cached > most && !lists_[oldest].empty()) {
        evicted[oldest].push(*lists_[oldest].pop());
        bytes_.cached -= capacity_of_class(oldest);
      }
    }
  }
  free_all(evicted);
}

int64_t SharedBlocks::give_back() noexcept {
  std::array<FreeBlocks, size_class_count> freed;
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

int64_t SharedBlocks::peak(int64_t live) noexcept {
  const std::lock_guard guard(mutex_);
  return peak_ = std::max(peak_, live);
}

BlockBytes SharedBlocks::bytes() noexcept {
  const std::lock_guard guard(mutex_);
  return bytes_;
}

void SharedBlocks::count_live(int64_t bytes) noexcept {
  const std::lock_guard guard(mutex_);
  bytes_.live += bytes;
}

// Under the lock.
void SharedBlocks::take_over(std::span<FreeBlocks> lists, const BlockBytes& bytes) noexcept {
  for (size_t size_class = 0; size_class < lists.size(); ++size_class) lists_[size_class].splice(lists[size_class]);
  bytes_.cached += bytes.cached;
  bytes_.live += bytes.live;
}

FreeBlocks SharedBlocks::take_locked(int size_class, int64_t most) noexcept {
  FreeBlocks taken;
  last_use_[size_class] = ++clock_;
  while (taken.count() < most && !lists_[size_class].empty()) taken.push(*lists_[size_class].pop());
  bytes_.cached -= taken.count() * capacity_of_class(size_class);
  return taken;
}

// Of those that hold blocks, the one longest without use.
int SharedBlocks::oldest_class() const noexcept {
  int oldest = 0;
  uint64_t when = UINT64_MAX;
  for (int c = 0; c < size_class_count; ++c) {
    if (lists_[c].empty() || last_use_[c] >= when) continue;
    oldest = c;
    when = last_use_[c];
  }
  return oldest;
}

void SharedBlocks::free_all(std::array<FreeBlocks, size_class_count>& lists) noexcept {
  for (int c = 0; c < size_class_count; ++c) {
    while (Block* const block = lists[c].pop()) {
      source_.give(block->pointer, capacity_of_class(c));
      delete block;
    }
  }
}

}  // namespace anyshape
