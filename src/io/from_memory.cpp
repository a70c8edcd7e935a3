// Tensors over foreign memory.
#include "base/checked.h"
#include "base/no_fork.h"
#include "io/foreign_memory.h"
#include "tensor/host_data.h"
#include "tensor/make_impl.h"
#include "tensor/row_major_strides.h"
#include "tensor/size_class.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/io.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace anyshape {
namespace {

// What the user gave to keep the memory: its end may be code of the user's.
struct Owner final : EndsOutside {
  explicit Owner(std::shared_ptr<void> given) : owner(std::move(given)) {}
  std::shared_ptr<void> owner;
};
void end_outside(void* owner) noexcept { NoFork::end_outside(static_cast<Owner*>(owner)); }

std::vector<int64_t> require_sizes(std::string_view op, const Shape& shape) {
  std::vector<int64_t> sizes;
  for (const Dim& size : shape) {
    sizes.push_back(size.value());
    if (sizes.back() >= 0) continue;
    throw ShapeError(fmt::format("{}: shape {} has the size {}; expected sizes of at least 0.", op, to_string(shape), sizes.back()));
  }
  return sizes;
}

// The elements that stand one after the other at `data`: there, or copied.
Tensor elements_at(std::string_view op, const void* data, Dtype dtype, const Shape& shape, int64_t capacity, bool is_known_capacity,
                   std::shared_ptr<void> owner) {
  const std::vector<int64_t> sizes = require_sizes(op, shape);
  const int64_t bytes = checked_bytes(shape.count().value(), size_of(dtype), op);
  if (is_known_capacity && capacity != 0 && capacity < bytes) {
    throw ArgumentError(fmt::format("{}: {}{} takes {} bytes and the capacity is {}; expected a capacity of at least that.", op,
                                    to_string(dtype), to_string(shape), bytes, capacity));
  }
  if (data == nullptr && bytes > 0) {
    throw ArgumentError(fmt::format("{}: the pointer is null for {}{}; expected {} bytes.", op, to_string(dtype), to_string(shape), bytes));
  }
  char* const begin = const_cast<char*>(static_cast<const char*>(data));
  ForeignMemory memory{begin, bytes, is_known_capacity ? capacity : capacity_to_page_end(begin, bytes), std::move(owner)};
  if (is_usable_in_place(memory, dtype)) {
    std::vector<int64_t> strides(sizes.size());
    set_row_major_strides(sizes, strides);
    return view_of_foreign(std::move(memory), dtype, sizes, strides, 0);
  }
  Tensor copy = make_empty(dtype, sizes);
  if (bytes > 0) std::memcpy(host_data(copy), data, static_cast<size_t>(bytes));
  return copy;
}

}  // namespace

bool is_usable_in_place(const ForeignMemory& memory, Dtype dtype) {
  const bool aligned = reinterpret_cast<uintptr_t>(memory.begin) % static_cast<uintptr_t>(size_of(dtype)) == 0;
  return memory.begin != nullptr && aligned && memory.capacity - memory.bytes >= load_slack;
}

int64_t capacity_to_page_end(const void* begin, int64_t bytes) {
  constexpr uintptr_t page = 4096;  // the smallest there are
  const uintptr_t end = reinterpret_cast<uintptr_t>(begin) + static_cast<uintptr_t>(bytes);
  return bytes + static_cast<int64_t>((page - end % page) % page);
}

Tensor view_of_foreign(ForeignMemory memory, Dtype dtype, std::span<const int64_t> sizes, std::span<const int64_t> strides,
                       int64_t offset) {
  std::shared_ptr<void> owner;
  if (memory.owner != nullptr) owner = std::shared_ptr<void>(new Owner(std::move(memory.owner)), end_outside);
  auto impl = make_impl();
  impl->dtype = dtype;
  impl->rank = static_cast<int8_t>(sizes.size());
  std::ranges::copy(sizes, impl->sizes.begin());
  std::ranges::copy(strides, impl->strides.begin());
  impl->offset = offset;
  impl->set_buffer(wrap_foreign(memory.begin, memory.bytes, memory.capacity, std::move(owner)));
  return Tensor(std::move(impl));
}

Tensor from_memory(const void* data, Dtype dtype, const Shape& shape, MemoryOptions options) {
  return elements_at("from_memory", data, dtype, shape, options.capacity, true, std::move(options.owner));
}

Tensor borrow(const void* data, Dtype dtype, const Shape& shape, std::shared_ptr<void> owner) {
  return elements_at("borrow", data, dtype, shape, 0, false, std::move(owner));
}

}  // namespace anyshape
