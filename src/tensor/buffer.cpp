// Buffers: reference-counted handles on blocks of the cache. Under the address sanitizer what may not be touched is poisoned.
#include "tensor/buffer.h"

#include "tensor/block_cache.h"
#include "tensor/poison.h"
#include "tensor/recycling_allocator.h"
#include "tensor/size_class.h"
#include "tensor/system_memory.h"

#include <anyshape/error.h>
#include <anyshape/memory.h>
#include <fmt/format.h>

#include <atomic>
#include <new>

namespace anyshape {
namespace {

std::atomic<int64_t> failure_countdown{0};

[[noreturn]] void throw_out_of_memory(int64_t bytes) {
  if (bytes < 0) throw OutOfMemory(fmt::format("allocate: {} bytes were asked for; expected 0 or more. The size overflowed.", bytes));
  throw OutOfMemory(
      fmt::format("allocate: the system has no memory for {} bytes: {} bytes are in tensors now; expected the request to fit. Free tensors "
                  "or use smaller batches.",
                  bytes, memory_use().live_bytes));
}

bool fails_now() {
  int64_t left = failure_countdown.load(std::memory_order_relaxed);
  while (left > 0 && !failure_countdown.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) {
  }
  return left == 1;
}

std::shared_ptr<Buffer> make_handle(int64_t bytes) {
  try {
    return std::allocate_shared<Buffer>(RecyclingAllocator<Buffer>());
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(bytes);
  }
}

}  // namespace

Buffer::~Buffer() {
  if (pointer == nullptr || owner != nullptr) return;
  poison(pointer, 64, capacity);  // the first line holds the cache's link
  give_block({pointer, size_class_of_capacity(capacity)}, size_class_of(bytes));
}

std::shared_ptr<Buffer> allocate(int64_t bytes) {
  if (bytes < 0 || bytes > max_class_bytes) throw_out_of_memory(bytes);
  if (failure_countdown.load(std::memory_order_relaxed) > 0 && fails_now()) throw_out_of_memory(bytes);
  std::shared_ptr<Buffer> buffer = make_handle(bytes);
  const Block block = take_block(size_class_of(bytes));
  if (block.pointer == nullptr) throw_out_of_memory(bytes);
  buffer->pointer = block.pointer;
  buffer->bytes = bytes;
  buffer->capacity = capacity_of_class(block.size_class);
  unpoison(buffer->pointer, buffer->capacity);
  poison(buffer->pointer, bytes + load_slack, buffer->capacity);
  return buffer;
}

MemoryUse memory_use() {
  const BlockBytes bytes = count_block_bytes();
  return {.live_bytes = bytes.live, .cached_bytes = bytes.cached, .system_allocations = system_allocations()};
}

int64_t trim_memory() { return give_back_cached_blocks(); }

void fail_allocation_after(int64_t n) { failure_countdown.store(n, std::memory_order_relaxed); }

}  // namespace anyshape
