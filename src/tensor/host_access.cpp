// The way between tensors and host numbers: making tensors from them and reading them back.
#include "base/checked.h"
#include "tensor/branch_judge.h"
#include "tensor/element.h"
#include "tensor/half.h"
#include "tensor/host_types.h"
#include "tensor/make_impl.h"
#include "tensor/partition.h"
#include "tensor/strided_copy.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace anyshape {
namespace {

thread_local BranchJudge* branch_judge = nullptr;

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
  return with_element(source.dtype, [&]<class E>(E) { return convert_element<T>(*reinterpret_cast<const E*>(source.data())); });
}

std::vector<float> widened(const Tensor& dense) {
  std::vector<float> values(static_cast<size_t>(dense.impl()->count()));
  with_element(dense.dtype(), [&]<class E>(E) {
    const auto* from = reinterpret_cast<const E*>(dense.impl()->data());
    std::transform(from, from + values.size(), values.begin(), [](E element) { return convert_element<float>(element); });
  });
  return values;
}

template <class T>
const char* type_name() {
  constexpr const char* names[] = {"bool", "uint8_t", "int32_t", "int64_t", "", "", "float", "double"};
  return names[static_cast<int>(dtype_of<T>)];
}

template <class T>
Tensor copy_in(const T* values, int64_t count, std::span<const int64_t> sizes) {
  Tensor made = make_empty(dtype_of<T>, sizes);
  std::copy_n(values, count, reinterpret_cast<T*>(made.impl()->data()));
  return made;
}

Tensor make_weak(Dtype dtype, double number, int64_t integer) {
  const Tensor value = is_floating(dtype) ? make_scalar(dtype, number) : make_scalar(dtype, integer);
  auto weak = make_impl();
  weak->dtype = dtype;
  weak->weak = true;
  weak->buffer = value.impl()->buffer;
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
  if (tensor.ragged != nullptr) return ragged_shape(*tensor.ragged);
  return tensor.traced != nullptr ? tensor.traced->shape : Shape(tensor.extents());
}

int Tensor::rank() const {
  const TensorImpl& tensor = require_defined(*this, "rank");
  return tensor.traced != nullptr ? tensor.traced->shape.rank() : tensor.rank;
}

Dtype Tensor::dtype() const { return require_defined(*this, "dtype").dtype; }

bool Tensor::is_ragged() const { return require_defined(*this, "is_ragged").ragged != nullptr; }

Tensor Tensor::values() const {
  const TensorImpl& tensor = require_defined(*this, "values");
  return tensor.ragged != nullptr ? tensor.ragged->values : *this;
}

Tensor Tensor::row_splits() const {
  if (is_ragged()) return impl_->ragged->partition->splits;
  throw ArgumentError(fmt::format("row_splits: the tensor is {}, which is dense; expected a ragged one.", describe(*this)));
}

template <class T>
T Tensor::item() const {
  return read_one<T>(require_one_element(values(), "item"));
}

BranchJudge* current_branch_judge() { return branch_judge; }
void set_current_branch_judge(BranchJudge* judge) { branch_judge = judge; }

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
    const char* bytes = dense.impl()->data();
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
  const int64_t sizes[] = {static_cast<int64_t>(rows.size()), rows.size() == 0 ? 0 : static_cast<int64_t>(rows.begin()->size())};
  for (const auto& row : rows) {
    if (static_cast<int64_t>(row.size()) == sizes[1]) continue;
    throw ShapeError(
        fmt::format("tensor: row {} has {} elements, row 0 has {}; expected rows of one length. Use ragged for rows that differ.",
                    &row - rows.begin(), row.size(), sizes[1]));
  }
  Tensor made = make_empty(dtype_of<T>, sizes);
  auto* to = reinterpret_cast<T*>(made.impl()->data());
  for (const auto& row : rows) to = std::copy(row.begin(), row.end(), to);
  return made;
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
  std::copy(values.begin(), values.end(), reinterpret_cast<T*>(made.impl()->data()));
  return made;
}

#define ANYSHAPE_HOST_TYPE(T)                                                      \
  template T Tensor::item<T>() const;                                              \
  template std::vector<T> Tensor::to_vector<T>() const;                            \
  template Tensor tensor<T>(std::initializer_list<T> values);                      \
  template Tensor tensor<T>(std::initializer_list<std::initializer_list<T>> rows); \
  template Tensor tensor<T>(const std::vector<T>& values, const Shape& shape);
ANYSHAPE_FOR_EACH_HOST_TYPE(ANYSHAPE_HOST_TYPE)
#undef ANYSHAPE_HOST_TYPE

}  // namespace anyshape
