// What a call really takes.
#pragma once
#include <anyshape/memory.h>

#include <cstdint>

namespace anyshape::test {

// All blocks that it asks the system for, where nothing is kept from before.
template <class Call>
int64_t bytes_taken(const Call& call) {
  trim_memory();
  const MemoryUse before = memory_use();
  const auto results = call();
  const MemoryUse after = memory_use();
  return after.live_bytes + after.cached_bytes - before.live_bytes - before.cached_bytes;
}

}  // namespace anyshape::test
