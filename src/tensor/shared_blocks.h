// Free blocks that any thread may take: of all size classes, bounded.
#pragma once
#include "tensor/free_blocks.h"
#include "tensor/memory_source.h"
#include "tensor/size_class.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <span>

namespace anyshape {

// Classes that threads keep to themselves: those below 1 MiB.
inline constexpr int thread_classes = size_class_of(int64_t{1} << 20);
// A request that finds no block of its class takes a larger one that is free, so that a stream of sizes lives in what its largest has left, or
// lets the largest smaller one grow, where the source can do that without clearing its pages again. Small ones take up to four times as much.
// Those of 64 KiB and more take any, as long as what all of them hold in vain stays below a limit, which grows with the most that was taken at once: a
// result that is kept for long must not keep many times its size.
inline constexpr int small_stretch = 8;  // classes
inline constexpr int stretches_from = size_class_of(int64_t{64} << 10);

struct BlockBytes {
  int64_t live = 0;    // capacity of the blocks taken
  int64_t cached = 0;  // capacity of those kept
};

class SharedBlocks {
 public:
  constexpr explicit SharedBlocks(MemorySource& source) : source_(source) {}

  // Up to `most` blocks of the class; none where there are none.
  FreeBlocks take(int size_class, int64_t most) noexcept;
  // One block of the class or, where there is none, of the next larger one that may be taken for it. Counted as live.
  Block* take_large(int size_class) noexcept;
  // The largest block below the class that can grow to one of it; none where there is none.
  Block* take_smaller(int size_class) noexcept;
  // A block that take_large() gave.
  void give_large(Block& block, int asked_class) noexcept;
  // Keeps the blocks and adds `live` to the bytes taken; where too much is kept, the classes that were longest without use go back to the source.
  void give(std::span<FreeBlocks> lists, int first_class, int64_t live = 0, int64_t in_vain = 0) noexcept;

  // Gives to the source what is kept beyond `most`, the classes that were longest without use first.
  void evict(int64_t most) noexcept;
  int64_t give_back() noexcept;  // all of it; the bytes

  // The most that was taken at once since the cache was last given back, now that it is `live`.
  int64_t peak(int64_t live) noexcept;
  BlockBytes bytes() noexcept;
  void count_live(int64_t bytes) noexcept;

  // Around a fork. What a child takes over is what threads kept that it does not have.
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }
  void take_over(std::span<FreeBlocks> lists, const BlockBytes& bytes) noexcept;

 private:
  FreeBlocks take_locked(int size_class, int64_t most) noexcept;
  int oldest_class() const noexcept;
  void free_all(std::array<FreeBlocks, size_class_count>& lists) noexcept;

  MemorySource& source_;
  std::mutex mutex_;
  std::array<FreeBlocks, size_class_count> lists_;
  std::array<uint64_t, size_class_count> last_use_{};
  uint64_t clock_ = 0;
  BlockBytes bytes_;
  int64_t peak_ = 0;
  int64_t held_in_vain_ = 0;  // by large blocks that are more than was asked for
};

}  // namespace anyshape
