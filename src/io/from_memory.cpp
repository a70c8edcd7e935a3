// Tensors over foreign memory.
#include "base/checked.h"
#include "tensor/make_impl.h"
#include "tensor/size_class.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/io.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace anyshape {
namespace {

Tensor view_of(void* data, Dtype dtype, std::span<const int64_t> sizes, int64_t bytes, MemoryOptions options) {
  auto buffer = std::make_shared<Buffer>();
  buffer->pointer = data;
  buffer->bytes = bytes;
  buffer->capacity = options.capacity;
  // A buffer with an owner is never given to the allocator's cache.
  buffer->owner = options.owner != nullptr ? std::move(options.owner) : std::shared_ptr<void>(data, [](void*) {});
  auto impl = make_impl();
  impl->dtype = dtype;
  impl->rank = static_cast<int8_t>(sizes.size());
  int64_t stride = 1;
  for (size_t axis = sizes.size(); axis-- > 0;) {
    impl->sizes[axis] = sizes[axis];
    impl->strides[axis] = stride;
    stride *= std::max<int64_t>(sizes[axis], 1);
  }
  impl->buffer = std::move(buffer);
  return Tensor(std::move(impl));
}

}  // namespace

Tensor from_memory(const void* data, Dtype dtype, const Shape& shape, MemoryOptions options) {
  std::vector<int64_t> sizes;
  for (const Dim& size : shape) {
    sizes.push_back(size.value());
    if (sizes.back() >= 0) continue;
    throw ShapeError(fmt::format("from_memory: shape {} has the size {}; expected sizes of at least 0.", to_string(shape), sizes.back()));
  }
  const int64_t bytes = checked_bytes(shape.count().value(), size_of(dtype), "from_memory");
  if (options.capacity != 0 && options.capacity < bytes) {
    throw ArgumentError(fmt::format("from_memory: {}{} takes {} bytes and the capacity is {}; expected a capacity of at least that.",
                                    to_string(dtype), to_string(shape), bytes, options.capacity));
  }
  if (data == nullptr && bytes > 0) {
    throw ArgumentError(
        fmt::format("from_memory: the pointer is null for {}{}; expected {} bytes.", to_string(dtype), to_string(shape), bytes));
  }
  const bool aligned = reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(size_of(dtype)) == 0;
  if (data != nullptr && aligned && options.capacity - bytes >= load_slack) {
    return view_of(const_cast<void*>(data), dtype, sizes, bytes, std::move(options));
  }
  Tensor copy = make_empty(dtype, sizes);
  if (bytes > 0) std::memcpy(copy.impl()->data(), data, static_cast<size_t>(bytes));
  return copy;
}

}  // namespace anyshape
