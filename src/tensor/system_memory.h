// Blocks from the operating system: the source of the host's memory.
#pragma once
#include "tensor/memory_source.h"

namespace anyshape {

class SystemMemory final : public MemorySource {
 public:
  void* take(int64_t capacity) noexcept override;
  void give(void* block, int64_t capacity) noexcept override;
  // What was touched once need not be cleared again: a block grows by its pages.
  int64_t grows_from() const noexcept override { return int64_t{4} << 20; }
  void* grow(void* block, int64_t capacity, int64_t wanted) noexcept override;
  int64_t most_kept() const noexcept override;
  void* on_host(void* pointer) override { return pointer; }
  const char* name() const noexcept override { return "the system"; }
};

int64_t physical_memory() noexcept;  // bytes of the machine, 0 where it does not say

}  // namespace anyshape
