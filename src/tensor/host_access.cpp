// The way between tensors and host numbers: making tensors from them and reading them back.
#include "base/checked.h"
#include "tensor/branch_judge.h"
#include "tensor/element.h"
#include "tensor/half.h"
#include "tensor/host_data.h"
#include "tensor/host_types.h"
#include "tensor/make_impl.h"
#include "tensor/partition.h"
#include "tensor/strided_copy.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

namespace anyshape {
namespace {

const TensorImpl& require_defined(const Tensor& tensor, const char* place) {
  if (tensor.defined()) return *tensor.impl();
  throw ArgumentError(
      fmt::format("{}: the tensor is undefined; expected a tensor with a value. It was made by Tensor() and never assigned.", place));
}

const TensorImpl& require_one_element(const Tensor& tensor, const char* place) {
  const TensorImpl& source = require_eager(tensor, place);
  const int64_t count = source.count();
  if (count == 1) return source;
  throw ShapeError(
      fmt::format("{}: the tensor has {} elements: {}; expected exactly one. Use to_vector to read them all, or reduce it first.", place,
                  count, describe(tensor)));
}

template <class T>
T read_one(const TensorImpl& source) {
  return with_element(source.dtype, [&]<class E>(E) { return convert_element<T>(*host_data<const E>(source)); });
}

// One index along an axis of this size, counted from the front.
int64_t require_index(const Tensor& tensor, int64_t index, size_t axis, int64_t size) {
  if (index >= -size && index < size) return index < 0 ? index + size : index;
  throw ShapeError(fmt::format("item: index {} along axis {} is outside: the tensor is {}; expected {}.", index, axis, describe(tensor),
                               size == 0 ? "an axis with elements" : fmt::format("{} <= index < {}", -size, size)));
}

const TensorImpl& require_row_major(const Tensor& tensor, const char* place) {
  const TensorImpl& source = require_eager(tensor, place);
  if (is_contiguous(source)) return source;
  throw ShapeError(
      fmt::format("{}: the elements of {} do not lie in row-major order: its strides are [{}]; expected a tensor that is no view by "
                  "other strides. Use row_major(x) first, which copies it, or to_vector.",
                  place, describe(tensor), fmt::join(tensor.strides(), ", ")));
}

std::vector<float> widened(const Tensor& dense) {
  std::vector<float> values(static_cast<size_t>(dense.impl()->count()));
  with_element(dense.dtype(), [&]<class E>(E) {
    const auto* from = host_data<const E>(dense);
    std::transform(from, from + values.size(), values.begin(), [](E element) { return convert_element<float>(element); });
  });
  return values;
}

constexpr const char* element_name(Dtype dtype) {
  constexpr const char* names[] = {"bool", "uint8_t", "int32_t", "int64_t", "uint16_t", "uint16_t", "float", "double"};
  return names[static_cast<int>(dtype)];
}

template <class T>
constexpr Dtype host_dtype() {
  if constexpr (std::is_same_v<T, uint16_t>) {
    return Dtype::f16;  // or bf16: bits
  } else {
    return dtype_of<T>;
  }
}

template <class T>
const char* type_name() {
  return element_name(host_dtype<T>());
}

template <class T>
Tensor copy_in(const T* values, int64_t count, std::span<const int64_t> sizes) {
  Tensor made = make_empty(dtype_of<T>, sizes);
  std::copy_n(values, count, host_data<T>(made));
  return made;
}

template <class T>
Tensor from_equal_rows(const auto& rows) {
  const int64_t sizes[] = {static_cast<int64_t>(rows.size()), rows.size() == 0 ? 0 : static_cast<int64_t>(rows.begin()->size())};
  for (const auto& row : rows) {
    if (static_cast<int64_t>(row.size()) == sizes[1]) continue;
    throw ShapeError(
        fmt::format("tensor: row {} has {} elements, row 0 has {}; expected rows of one length. Use ragged for rows that differ.",
                    &row - &*rows.begin(), row.size(), sizes[1]));
  }
  Tensor made = make_empty(dtype_of<T>, sizes);
  auto* to = host_data<T>(made);
  for (const auto& row : rows) to = std::copy(row.begin(), row.end(), to);
  return made;
}

Tensor make_weak(Dtype dtype, double number, int64_t integer) {
  const Tensor value = is_floating(dtype) ? make_scalar(dtype, number) : make_scalar(dtype, integer);
  auto weak = make_impl();
  weak->dtype = dtype;
  weak->weak = true;
  weak->set_buffer(value.impl()->buffer());
  weak->number = number;
  return Tensor(std::move(weak));
}

// The padded view's: rows, the ragged axis, and the values' own axes.
Shape ragged_shape(const RaggedTensor& ragged) {
  const Shape values = ragged.values.shape();
  Shape shape{ragged.partition->rows, ragged.partition->axis};
  for (int axis = 1; axis < values.rank(); ++axis) shape.push_back(values[axis]);
  return shape;
}

}  // namespace

std::string describe(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  return fmt::format("{}{}", to_string(tensor.dtype()), to_string(tensor.shape()));
}

Shape Tensor::shape() const {
  const TensorImpl& tensor = require_defined(*this, "shape");
  if (tensor.is_strided()) return Shape(tensor.extents());
  const RaggedTensor* const ragged = tensor.ragged();
  return ragged != nullptr ? ragged_shape(*ragged) : tensor.traced()->shape;
}

int Tensor::rank() const {
  const TensorImpl& tensor = require_defined(*this, "rank");
  const TracedTensor* const traced = tensor.is_strided() ? nullptr : tensor.traced();
  return traced != nullptr ? traced->shape.rank() : tensor.rank;
}

Dtype Tensor::dtype() const { return require_defined(*this, "dtype").dtype; }

bool Tensor::is_ragged() const { return require_defined(*this, "is_ragged").ragged() != nullptr; }

Tensor Tensor::values() const {
  const TensorImpl& tensor = require_defined(*this, "values");
  const RaggedTensor* const ragged = tensor.ragged();
  return ragged != nullptr ? ragged->values : *this;
}

Tensor Tensor::row_splits() const {
  if (is_ragged()) return impl_->ragged()->partition->splits;
  throw ArgumentError(fmt::format("row_splits: the tensor is {}, which is dense; expected a ragged one.", describe(*this)));
}

template <class T>
T Tensor::item() const {
  if constexpr (std::is_same_v<T, double>) {
    if (impl_ != nullptr && impl_->weak && is_floating(impl_->dtype)) return impl_->number;
  }
  return read_one<T>(require_one_element(values(), "item"));
}

template <class T>
T Tensor::element(std::span<const int64_t> indices) const {
  if (!defined() || is_traced(*this)) require_eager(*this, "item");
  if (indices.size() != static_cast<size_t>(rank())) {
    throw ShapeError(fmt::format("item: {} indices for {} axes: the tensor is {}; expected one index for each axis.", indices.size(),
                                 rank(), describe(*this)));
  }
  const RaggedTensor* ragged = as_ragged(*this);
  const TensorImpl& source = ragged != nullptr ? *ragged->values.impl() : *impl_;
  int64_t offset = 0;
  size_t axis = 0;  // of the indices; the values of a ragged tensor have one axis for its first two
  if (ragged != nullptr) {
    const std::span<const int64_t> splits = ragged->partition->host_splits();
    const auto row = static_cast<size_t>(require_index(*this, indices[0], 0, static_cast<int64_t>(splits.size()) - 1));
    offset = (splits[row] + require_index(*this, indices[1], 1, splits[row + 1] - splits[row])) * source.strides[0];
    axis = 2;
  }
  for (const size_t first = axis == 0 ? 0 : 1; axis < indices.size(); ++axis) {
    const size_t own = axis - first;
    offset += require_index(*this, indices[axis], axis, source.sizes[own]) * source.strides[own];
  }
  return with_element(source.dtype, [&]<class E>(E) { return convert_element<T>(host_data<const E>(source)[offset]); });
}

std::vector<int64_t> Tensor::strides() const {
  const TensorImpl& source = require_eager(*this, "strides");
  return {source.strides.begin(), source.strides.begin() + source.rank};
}

template <class T>
std::span<const T> Tensor::data() const& {
  const TensorImpl& source = require_row_major(*this, "data");
  const bool fits = std::is_same_v<T, uint16_t> ? is_half(source.dtype) : source.dtype == host_dtype<T>();
  if (!fits) {
    throw DtypeError(fmt::format(
        "data: the tensor is {}, its elements were asked for as {}; expected {}. Use cast(tensor, ...) first, or "
        "to_vector.",
        describe(*this), type_name<T>(), is_half(source.dtype) ? "uint16_t, their bits" : fmt::format("{}", element_name(source.dtype))));
  }
  const auto count = static_cast<size_t>(source.count());
  return {count == 0 ? nullptr : host_data<const T>(source), count};
}

Tensor::operator bool() const {
  if (is_traced(*this)) {
    if (BranchJudge* judge = current_branch_judge()) return judge->branch(*this);
    throw TraceError(fmt::format(
        "bool: the tensor {} left its trace: it has no value outside; expected a tensor with a value. Return it from the traced "
        "function, or keep it in a Variable.",
        describe(*this)));
  }
  return read_one<bool>(require_one_element(values(), "bool"));
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  if (defined() && is_ragged()) return values().to_vector<T>();
  const TensorImpl& source = require_eager(*this, "to_vector");
  // Halves have no type of their own on the host: floats hold them all.
  if constexpr (std::is_same_v<T, float>) {
    if (is_half(source.dtype)) return widened(contiguous(*this));
  }
  if (source.dtype != dtype_of<T>) {
    throw DtypeError(fmt::format(
        "to_vector: the tensor is {}, its elements were asked for as {} ({}); expected the same type. Use cast(tensor, {}) first.",
        describe(*this), to_string(dtype_of<T>), type_name<T>(), to_string(dtype_of<T>)));
  }
  const int64_t count = source.count();
  if constexpr (std::is_same_v<T, bool>) {
    const Tensor dense = contiguous(*this);  // std::vector<bool> has no bytes to copy into
    const char* bytes = host_data(dense);
    return std::vector<bool>(bytes, bytes + count);
  } else {
    std::vector<T> values(static_cast<size_t>(count));
    copy_row_major(source, values.data());
    return values;
  }
}

Tensor Tensor::from_number(double number) { return make_weak(Dtype::f32, number, 0); }
Tensor Tensor::from_number(int64_t number) {
  const bool fits = number >= std::numeric_limits<int32_t>::min() && number <= std::numeric_limits<int32_t>::max();
  return make_weak(fits ? Dtype::i32 : Dtype::i64, static_cast<double>(number), number);
}
Tensor Tensor::from_number(bool number) { return make_weak(Dtype::b8, number ? 1 : 0, number ? 1 : 0); }

}  // namespace anyshape

// Instances of a function template are visible only where its definition stands in a visible block.
namespace [[gnu::visibility("default")]] anyshape {

template <class T>
Tensor tensor(std::initializer_list<T> values) {
  const auto count = static_cast<int64_t>(values.size());
  return copy_in(values.begin(), count, {&count, 1});
}

template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> rows) {
  return from_equal_rows<T>(rows);
}

template <class T>
Tensor tensor(const std::vector<T>& values) {
  const auto count = static_cast<int64_t>(values.size());
  Tensor made = make_empty(dtype_of<T>, {&count, 1});
  std::copy(values.begin(), values.end(), host_data<T>(made));
  return made;
}

template <class T>
Tensor tensor(const std::vector<std::vector<T>>& rows) {
  return from_equal_rows<T>(rows);
}

template <class T>
Tensor tensor(const std::vector<T>& values, const Shape& shape) {
  std::vector<int64_t> sizes;
  for (const Dim& size : shape) sizes.push_back(size.value());
  const int64_t count = shape.count().value();
  if (count != static_cast<int64_t>(values.size())) {
    throw ShapeError(
        fmt::format("tensor: {} values for {}{}; expected {} of them.", values.size(), to_string(dtype_of<T>), to_string(shape), count));
  }
  Tensor made = make_empty(dtype_of<T>, sizes);
  std::copy(values.begin(), values.end(), host_data<T>(made));
  return made;
}

#define ANYSHAPE_HOST_TYPE(T)                                                      \
  template T Tensor::item<T>() const;                                              \
  template T Tensor::element<T>(std::span<const int64_t> indices) const;           \
  template std::span<const T> Tensor::data<T>() const&;                            \
  template Tensor tensor<T>(const std::vector<T>& values);                         \
  template Tensor tensor<T>(const std::vector<std::vector<T>>& rows);              \
  template std::vector<T> Tensor::to_vector<T>() const;                            \
  template Tensor tensor<T>(std::initializer_list<T> values);                      \
  template Tensor tensor<T>(std::initializer_list<std::initializer_list<T>> rows); \
  template Tensor tensor<T>(const std::vector<T>& values, const Shape& shape);
ANYSHAPE_FOR_EACH_HOST_TYPE(ANYSHAPE_HOST_TYPE)
#undef ANYSHAPE_HOST_TYPE
template std::span<const uint16_t> Tensor::data<uint16_t>() const&;

}  // namespace anyshape
