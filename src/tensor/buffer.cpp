// Buffers: reference-counted handles on blocks of a memory. Under the address sanitizer what may not be touched is poisoned.
#include "tensor/buffer.h"

#include "tensor/host_memory.h"
#include "tensor/poison.h"
#include "tensor/recycling_allocator.h"
#include "tensor/size_class.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include <new>

namespace anyshape {
namespace {

[[noreturn]] void throw_out_of_memory(int64_t bytes, Memory& memory) {
  if (bytes < 0) throw OutOfMemory(fmt::format("allocate: {} bytes were asked for; expected 0 or more. The size overflowed.", bytes));
  throw OutOfMemory(
      fmt::format("allocate: {} has no memory for {} bytes: {} bytes are in tensors now; expected the request to fit. Free tensors or use "
                  "smaller batches.",
                  memory.source().name(), bytes, memory.use().live_bytes));
}

std::shared_ptr<Buffer> make_handle(int64_t bytes, Memory& memory) {
  try {
    return std::allocate_shared<Buffer>(RecyclingAllocator<Buffer>());
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(bytes, memory);
  }
}

}  // namespace

Buffer::~Buffer() {
  if (block == nullptr) return;
  if (device == host_device) poison(pointer, 0, capacity);
  Memory::give(*block, size_class_of(bytes));
}

std::shared_ptr<Buffer> allocate(int64_t bytes, Memory& memory) {
  if (bytes < 0 || bytes > max_class_bytes || memory.fails_now()) throw_out_of_memory(bytes, memory);
  std::shared_ptr<Buffer> buffer = make_handle(bytes, memory);
  Block* const block = memory.take(size_class_of(bytes));
  if (block == nullptr) throw_out_of_memory(bytes, memory);
  buffer->block = block;
  buffer->device = memory.device();
  buffer->pointer = block->pointer;
  buffer->bytes = bytes;
  buffer->capacity = capacity_of_class(block->size_class);
  if (buffer->device == host_device) {
    unpoison(buffer->pointer, buffer->capacity);
    poison(buffer->pointer, bytes + load_slack, buffer->capacity);
  }
  return buffer;
}

std::shared_ptr<Buffer> wrap_foreign(void* begin, int64_t bytes, int64_t capacity, std::shared_ptr<void> owner) {
  auto buffer = std::make_shared<Buffer>();
  buffer->pointer = begin;
  buffer->bytes = bytes;
  buffer->capacity = capacity;
  buffer->owner = std::move(owner);
  return buffer;
}

void fail_allocation_after(int64_t n) { host_memory().fail_after(n); }

}  // namespace anyshape
