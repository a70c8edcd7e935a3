// Blocks from the operating system: the floor under the caching allocator.
#pragma once
#include <cstdint>

namespace anyshape {

// Aligned to 64 bytes; null where the system has no more. Counted.
void* take_from_system(int64_t capacity) noexcept;
void give_to_system(void* block, int64_t capacity) noexcept;

int64_t system_allocations() noexcept;  // times the system was asked
int64_t physical_memory() noexcept;     // bytes of the machine, 0 where it does not say

}  // namespace anyshape
