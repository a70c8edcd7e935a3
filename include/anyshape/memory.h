// Memory of tensors: kept for reuse when they die, and given back to the system when asked.
#pragma once
#include <cstdint>

#pragma GCC visibility push(default)
namespace anyshape {

/// Memory of this process's tensors, in bytes of the allocator's blocks.
struct MemoryUse {
  int64_t live_bytes = 0;          ///< in tensors, variables and calls that run
  int64_t cached_bytes = 0;        ///< kept for reuse
  int64_t system_allocations = 0;  ///< times the system was asked for memory, ever
};
MemoryUse memory_use();  ///< at this moment, of all threads

/// Gives what is kept for reuse back to the system; the bytes. The next calls ask for it again.
int64_t trim_memory();

}  // namespace anyshape
#pragma GCC visibility pop
