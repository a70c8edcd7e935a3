// Free blocks kept for reuse: a cache per thread for small ones, in front of a shared, bounded one for all.
#pragma once
#include <cstdint>

namespace anyshape {

void* take_block(int size_class) noexcept;  // null where the system has no more, even after the cache was given back
void give_block(void* block, int size_class) noexcept;

struct BlockBytes {
  int64_t live = 0;    // capacity of the blocks taken
  int64_t cached = 0;  // capacity of those kept
};
BlockBytes count_block_bytes();
void give_back_cached_blocks() noexcept;

}  // namespace anyshape
