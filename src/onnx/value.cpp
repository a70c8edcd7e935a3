// Values between their forms.
#include "onnx/value.h"

#include "graph/layer_path.h"
#include "graph/outside_trace.h"
#include "ops/source/size.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

namespace anyshape::onnx {
namespace {

constexpr int64_t most_sizes = 4096;  // more numbers than that are data

Tensor moved(const Tensor& tensor, int64_t from, int64_t to, bool is_constant) {
  if (!is_constant) return moveaxis(tensor, from, to);
  const OutsideTrace once;
  return row_major(moveaxis(tensor, from, to));
}

std::vector<int64_t> from_kernel(int64_t rank) {
  std::vector<int64_t> axes = {rank - 1, rank - 2};
  for (int64_t axis = 0; axis + 2 < rank; ++axis) axes.push_back(axis);
  return axes;
}

Tensor to_kernel(const Tensor& weight, bool is_constant) {
  std::vector<int64_t> axes;
  for (int64_t axis = 2; axis < weight.rank(); ++axis) axes.push_back(axis);
  axes.insert(axes.end(), {1, 0});
  if (!is_constant) return transpose(weight, axes);
  const OutsideTrace once;
  return row_major(transpose(weight, axes));
}

}  // namespace

Value::Value(Tensor tensor) : Value(std::move(tensor), ElementType::Undefined) {}
Value::Value(Tensor tensor, ElementType type) : type_(type), tensor_(std::move(tensor)) {
  if (!tensor_.defined()) return;
  kind_ = Kind::Tensor;
  if (type_ == ElementType::Undefined) type_ = element_type_of(tensor_.dtype());
}

Value Value::constant(Tensor tensor, ElementType type) {
  Value value(std::move(tensor), type);
  value.is_constant_ = true;
  return value;
}

Value Value::sizes(std::vector<Dim> numbers, ElementType type) {
  Value value;
  value.kind_ = Kind::Sizes;
  value.type_ = type;
  value.is_constant_ = true;
  for (const Dim& number : numbers) value.is_constant_ = value.is_constant_ && number.is_constant();
  value.numbers_ = std::move(numbers);
  return value;
}
Value Value::size(Dim number, ElementType type) {
  Value value = sizes({std::move(number)}, type);
  value.is_scalar_ = true;
  return value;
}

Value Value::image(Tensor channels_last, ElementType type) {
  Value value(std::move(channels_last), type);
  value.layout_ = Layout::Image;
  return value;
}

Value Value::kernel(Tensor turned) {
  Value value(std::move(turned));
  value.layout_ = Layout::Kernel;
  return value;
}

Value Value::sequence(std::vector<Value> elements) {
  Value value;
  value.kind_ = Kind::Sequence;
  value.is_constant_ = true;
  for (const Value& element : elements) value.is_constant_ = value.is_constant_ && element.is_constant();
  value.elements_ = std::make_shared<const std::vector<Value>>(std::move(elements));
  return value;
}

Shape Value::shape() const {
  if (kind_ == Kind::Sizes) return is_scalar_ ? Shape() : Shape{static_cast<int64_t>(numbers_.size())};
  const Shape held = tensor_.shape();
  if (layout_ == Layout::Plain) return held;
  Shape shape{held[layout_ == Layout::Image ? 0 : -1], held[layout_ == Layout::Image ? -1 : -2]};
  for (int axis = layout_ == Layout::Image ? 1 : 0; axis + (layout_ == Layout::Image ? 1 : 2) < held.rank(); ++axis)
    shape.push_back(held[axis]);
  return shape;
}

Dtype Value::dtype() const {
  if (kind_ == Kind::Sizes) return dtype_for(type_).value_or(Dtype::i64);
  return tensor_.dtype();
}

Tensor Value::tensor() const {
  if (kind_ == Kind::Tensor && layout_ == Layout::Kernel) return transpose(tensor_, from_kernel(tensor_.rank()));
  if (kind_ == Kind::Tensor) return is_image() ? moved(tensor_, -1, 1, is_constant_) : tensor_;
  if (kind_ != Kind::Sizes)
    throw FormatError("onnx: a sequence, or nothing, is given where a tensor is taken; expected a tensor." + current_place());
  const Dtype dtype = this->dtype();
  if (is_constant_) {
    std::vector<int64_t> numbers;
    for (const Dim& number : numbers_) numbers.push_back(number.value());
    const OutsideTrace once;
    return cast(anyshape::tensor(numbers, is_scalar_ ? Shape() : Shape{static_cast<int64_t>(numbers.size())}), dtype);
  }
  if (is_scalar_) return size_tensor(numbers_[0], dtype);
  std::vector<Tensor> parts;
  for (const Dim& number : numbers_) parts.push_back(size_tensor(number, dtype));
  return stack(parts);
}

Tensor Value::image() const { return is_image() ? tensor_ : moved(tensor(), 1, -1, is_constant_); }

Tensor Value::kernel() const {
  if (layout_ == Layout::Kernel) return tensor_;
  return to_kernel(tensor(), is_constant_);
}

std::optional<std::vector<Dim>> Value::known_sizes() const {
  if (kind_ == Kind::Sizes) return numbers_;
  if (kind_ != Kind::Tensor || is_traced(tensor_) || tensor_.rank() > 1 || is_floating(tensor_.dtype())) return std::nullopt;
  const OutsideTrace outside;
  const int64_t count = tensor_.shape().count().value();
  if (count > most_sizes) return std::nullopt;
  const Tensor wide = cast(tensor_, Dtype::i64);
  std::vector<Dim> numbers;
  for (const int64_t number : wide.to_vector<int64_t>()) numbers.emplace_back(number);
  return numbers;
}

Value Value::with_type(ElementType type) const {
  Value value = *this;
  value.type_ = type;
  return value;
}
Value Value::as_constant() const {
  Value value = *this;
  value.is_constant_ = true;
  return value;
}

}  // namespace anyshape::onnx
