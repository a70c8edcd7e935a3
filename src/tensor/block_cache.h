// Free blocks kept for reuse: a cache per thread for small ones, in front of a shared, bounded one for all.
#pragma once
#include <cstdint>

namespace anyshape {

struct Block {
  void* pointer = nullptr;  // null where the system has no more, even after the cache was given back
  int size_class = 0;       // of the block: what was asked for, or a larger one that was free
};
Block take_block(int size_class) noexcept;
void give_block(const Block& block, int asked_class) noexcept;

struct BlockBytes {
  int64_t live = 0;    // capacity of the blocks taken
  int64_t cached = 0;  // capacity of those kept
};
BlockBytes count_block_bytes();
int64_t give_back_cached_blocks() noexcept;  // to the system; the bytes

}  // namespace anyshape
