// Memory of tensors and arenas: blocks from a caching allocator, aligned to 64 bytes, with room for loads past the end.
#pragma once
#include <cstdint>
#include <memory>

namespace anyshape {

class Memory;                    // tensor/memory.h
Memory& host_memory() noexcept;  // tensor/host_memory.h
struct Block;

inline constexpr int32_t host_device = 0;  // this machine's processor

struct Buffer {
  int32_t device = host_device;  // whose memory it is
  void* pointer = nullptr;       // there
  int64_t bytes = 0;             // asked for
  int64_t capacity = 0;          // there; at least bytes + the slack loads may touch
  std::shared_ptr<void> owner;   // keeps foreign memory alive
  Block* block = nullptr;        // of the allocator; null where the memory is foreign
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();  // gives the block back to the cache
};

// OutOfMemory naming the bytes where there are no more. The contents are not initialised.
std::shared_ptr<Buffer> allocate(int64_t bytes, Memory& memory = host_memory());

// Host memory that is somebody else's; the owner, if any, is let go of with the buffer.
std::shared_ptr<Buffer> wrap_foreign(void* begin, int64_t bytes, int64_t capacity, std::shared_ptr<void> owner);

// For tests: the n-th allocation of the host's memory from now (1 is the next) fails once; 0 switches it off.
void fail_allocation_after(int64_t n);

}  // namespace anyshape
