// Buffers on other devices, as the host sees them.
#include "tensor/host_data.h"

#include "tensor/memory.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape {

void* require_on_host(const Buffer& buffer) {
  MemorySource& source = buffer.block->memory->source();
  void* const begin = source.on_host(buffer.pointer);
  if (begin != nullptr) return begin;
  throw ArgumentError(fmt::format(
      "host access: the tensor is in memory of {}, which the host cannot read; expected one in the host's memory. Copy it there first.",
      source.name()));
}

}  // namespace anyshape
