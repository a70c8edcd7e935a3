// Blocks from the operating system: the floor under the caching allocator.
#pragma once
#include <cstdint>

namespace anyshape {

// Aligned to 64 bytes; null where the system has no more. Counted.
void* take_from_system(int64_t capacity) noexcept;
void give_to_system(void* block, int64_t capacity) noexcept;

// A larger block that begins with the pages of `block`, which is given up: what was touched once need not be cleared again. Null where the
// system has no more. Counted.
inline constexpr int64_t grows_from = int64_t{4} << 20;  // bytes of the smallest block that can be grown
void* grow_from_system(void* block, int64_t capacity, int64_t wanted) noexcept;

int64_t system_allocations() noexcept;  // times the system was asked
int64_t physical_memory() noexcept;     // bytes of the machine, 0 where it does not say

}  // namespace anyshape
