// DLPack in both directions. What comes in is checked before anything is read by it.
#include <anyshape/dlpack.h>

#include "base/checked.h"
#include "io/foreign_memory.h"
#include "tensor/host_data.h"
#include "tensor/row_major_strides.h"
#include "tensor/strided_copy.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>

namespace anyshape {
namespace {

using dlpack::TypeCode;

struct KnownType {
  Dtype dtype;
  TypeCode code;
  uint8_t bits;
};
constexpr KnownType known_types[] = {{Dtype::b8, TypeCode::Bool, 8},    {Dtype::u8, TypeCode::UInt, 8},
                                     {Dtype::i32, TypeCode::Int, 32},   {Dtype::i64, TypeCode::Int, 64},
                                     {Dtype::f16, TypeCode::Float, 16}, {Dtype::bf16, TypeCode::Bfloat, 16},
                                     {Dtype::f32, TypeCode::Float, 32}, {Dtype::f64, TypeCode::Float, 64}};

dlpack::DataType type_of(Dtype dtype) {
  const KnownType& known = known_types[static_cast<int>(dtype)];
  return {static_cast<uint8_t>(known.code), known.bits, 1};
}

Dtype dtype_of_type(const dlpack::DataType& type) {
  for (const KnownType& known : known_types) {
    if (static_cast<uint8_t>(known.code) == type.code && known.bits == type.bits && type.lanes == 1) return known.dtype;
  }
  throw DtypeError(
      fmt::format("from_dlpack: elements of type code {} with {} bits and {} lanes; expected one lane of bool, 8-bit unsigned, 32- or "
                  "64-bit signed integers, bfloat16, or floats of 16, 32 or 64 bits.",
                  type.code, type.bits, type.lanes));
}

// A tensor lent to somebody else: what DLPack's struct points at, and the handle that keeps the memory.
template <class Managed>
struct Lent {
  Managed managed;
  Tensor tensor;
  std::array<int64_t, max_rank> shape{}, strides{};
};

template <class Managed>
Managed* lend(const Tensor& tensor, const char* op) {
  const TensorImpl& source = require_eager(tensor, op);
  auto lent = std::make_unique<Lent<Managed>>();
  lent->tensor = another_handle(tensor);
  lent->shape = source.sizes;
  lent->strides = source.strides;
  lent->managed.tensor = {.data = host_data(source),
                          .device = {},
                          .rank = source.rank,
                          .dtype = type_of(source.dtype),
                          .shape = lent->shape.data(),
                          .strides = lent->strides.data(),
                          .byte_offset = 0};
  lent->managed.context = lent.get();
  lent->managed.deleter = [](Managed* self) { delete static_cast<Lent<Managed>*>(self->context); };
  return &lent.release()->managed;
}

std::vector<int64_t> require_sizes(const dlpack::TensorView& given) {
  if (given.rank < 0 || given.rank > max_rank) {
    throw ShapeError(fmt::format("from_dlpack: rank {}; expected 0 to {}.", given.rank, max_rank));
  }
  if (given.rank > 0 && given.shape == nullptr) {
    throw ArgumentError(fmt::format("from_dlpack: the shape is a null pointer for rank {}; expected {} sizes.", given.rank, given.rank));
  }
  std::vector<int64_t> sizes(given.shape, given.shape + given.rank);
  for (const int64_t size : sizes) {
    if (size < 0)
      throw ShapeError(fmt::format("from_dlpack: shape {} has the size {}; expected sizes of at least 0.", to_string(Shape(sizes)), size));
  }
  return sizes;
}

// How far elements lie before and behind the first one, in elements; nothing where the numbers overflow.
struct Reach {
  int64_t before = 0;
  int64_t behind = 0;
};
std::optional<Reach> reach_of(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  Reach reach;
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    int64_t distance = 0;
    int64_t& end = strides[axis] < 0 ? reach.before : reach.behind;
    if (__builtin_mul_overflow(sizes[axis] - 1, strides[axis], &distance) || __builtin_add_overflow(end, distance, &end)) return {};
  }
  constexpr int64_t farthest = int64_t{1} << 59;  // in bytes it still is a distance
  if (reach.before < -farthest || reach.behind > farthest) return {};
  return reach;
}

Tensor take_over(const dlpack::TensorView& given, const std::function<std::shared_ptr<void>()>& own) {
  if (given.device.type != dlpack::cpu) {
    throw ArgumentError(
        fmt::format("from_dlpack: the memory is on device type {}, number {}; expected the CPU (type {}). Copy the tensor to the "
                    "host first.",
                    given.device.type, given.device.id, dlpack::cpu));
  }
  const Dtype dtype = dtype_of_type(given.dtype);
  const std::vector<int64_t> sizes = require_sizes(given);
  int64_t count = 1;
  for (const int64_t size : sizes) count = count == 0 || size == 0 ? 0 : checked_multiply(count, size, "number of elements");
  checked_bytes(count, size_of(dtype), "from_dlpack");
  if (count == 0) {
    Tensor nothing = make_empty(dtype, sizes);
    own();
    return nothing;
  }
  if (given.data == nullptr) {
    throw ArgumentError(fmt::format("from_dlpack: the data is a null pointer for {}{}; expected {} elements.", to_string(dtype),
                                    to_string(Shape(sizes)), count));
  }
  std::vector<int64_t> strides(sizes.size());
  if (given.strides != nullptr) {
    strides.assign(given.strides, given.strides + given.rank);
  } else {
    set_row_major_strides(sizes, strides);
  }
  const std::optional<Reach> reach = reach_of(sizes, strides);
  if (!reach)
    throw ShapeError(fmt::format("from_dlpack: shape {} with strides {} leaves the address space; expected strides in elements.",
                                 to_string(Shape(sizes)), to_string(Shape(strides))));
  char* const first = static_cast<char*>(given.data) + given.byte_offset;
  ForeignMemory memory{.begin = first + reach->before * size_of(dtype),
                       .bytes = (reach->behind - reach->before + 1) * size_of(dtype),
                       .capacity = 0,
                       .owner = nullptr};
  memory.capacity = capacity_to_page_end(memory.begin, memory.bytes);
  if (is_usable_in_place(memory, dtype)) {
    memory.owner = own();
    return view_of_foreign(std::move(memory), dtype, sizes, strides, -reach->before);
  }
  if (reinterpret_cast<uintptr_t>(first) % static_cast<uintptr_t>(size_of(dtype)) != 0) {
    throw ArgumentError(fmt::format("from_dlpack: the elements of {}{} are not aligned; expected an address that is a multiple of {}.",
                                    to_string(dtype), to_string(Shape(sizes)), size_of(dtype)));
  }
  Tensor copy = make_empty(dtype, sizes);
  const Tensor view = view_of_foreign(std::move(memory), dtype, sizes, strides, -reach->before);
  copy_row_major(*view.impl(), host_data(copy));
  own();  // and let go
  return copy;
}

template <class Managed>
std::shared_ptr<void> owner_of(Managed* managed) {
  return {managed, [](Managed* self) {
            if (self->deleter != nullptr) self->deleter(self);
          }};
}

template <class Managed>
Managed& require_managed(Managed* managed) {
  if (managed != nullptr) return *managed;
  throw ArgumentError("from_dlpack: the managed tensor is a null pointer; expected one.");
}

}  // namespace

dlpack::ManagedTensor* to_dlpack(const Tensor& tensor) { return lend<dlpack::ManagedTensor>(tensor, "to_dlpack"); }

dlpack::VersionedTensor* to_versioned_dlpack(const Tensor& tensor) {
  auto* lent = lend<dlpack::VersionedTensor>(tensor, "to_versioned_dlpack");
  lent->flags = dlpack::read_only;
  return lent;
}

Tensor from_dlpack(dlpack::ManagedTensor* managed) {
  return take_over(require_managed(managed).tensor, [&] { return owner_of(managed); });
}

Tensor from_dlpack(dlpack::VersionedTensor* managed) {
  const dlpack::Version& version = require_managed(managed).version;
  if (version.major != 1) {  // where the rest stands is not known
    throw ArgumentError(fmt::format("from_dlpack: version {}.{} of DLPack; expected 1.", version.major, version.minor));
  }
  return take_over(managed->tensor, [&] { return owner_of(managed); });
}

}  // namespace anyshape
