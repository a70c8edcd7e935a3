// Memory of tensors and arenas: blocks from a caching allocator, aligned to 64 bytes, with room for loads past the end.
#pragma once
#include <cstdint>
#include <memory>

namespace anyshape {

struct Buffer {
  int32_t device = 0;
  void* pointer = nullptr;
  int64_t bytes = 0;            // asked for
  int64_t capacity = 0;         // there; at least bytes + the slack loads may touch
  std::shared_ptr<void> owner;  // keeps foreign memory alive; null for the allocator's own
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();  // gives the block back to the cache
};

// OutOfMemory naming the bytes where the system has no more. The contents are not initialised.
std::shared_ptr<Buffer> allocate(int64_t bytes);

// For tests: the n-th allocation from now (1 is the next) fails once; 0 switches it off.
void fail_allocation_after(int64_t n);

}  // namespace anyshape
