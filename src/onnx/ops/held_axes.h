// Where an axis of ONNX's stands in an image that is held channels last, so that ops which work along axes leave images as they are.
#pragma once
#include "onnx/rule.h"

#include <anyshape/ops/movement.h>

#include <algorithm>
#include <vector>

namespace anyshape::onnx {

// [batch, channels, space...] -> [batch, space..., channels]; both from the front.
constexpr int64_t held_axis(int64_t axis, int rank) { return axis == 0 ? 0 : axis == 1 ? rank - 1 : axis - 1; }

// An input as it is held, and the way back.
struct Held {
  explicit Held(const Value& value)
      : is_image(value.is_image()), type(value.type()), tensor(value.is_image() ? value.held() : value.tensor()) {}

  int64_t axis(int64_t onnx) const { return is_image ? held_axis(onnx, tensor.rank()) : onnx; }
  std::vector<int64_t> axes(std::vector<int64_t> onnx) const {
    for (int64_t& each : onnx) each = axis(each);
    return onnx;
  }
  // What stands for each axis of ONNX's, in the order in which they are held; one entry per axis.
  template <class Entry>
  std::vector<Entry> in_order(std::vector<Entry> entries) const {
    if (is_image) std::rotate(entries.begin() + 1, entries.begin() + 2, entries.end());
    return entries;
  }
  Value like(const Tensor& result) const { return is_image ? Value::image(result, type) : Value(result, type); }

  bool is_image;
  ElementType type;
  Tensor tensor;
};

// The elements in ONNX's order, of whatever shape: an image of one place has them as it stands.
inline Tensor in_row_order(const Value& value) {
  if (!value.is_image()) return value.tensor();
  const Shape shape = value.shape();
  const bool is_one_place = std::all_of(shape.begin() + 2, shape.end(), [](const Dim& size) { return size.same_as(1); });
  return is_one_place ? reshape(value.held(), shape) : value.tensor();
}

}  // namespace anyshape::onnx
