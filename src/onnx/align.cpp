// Images and what they meet, in one order of axes.
#include "onnx/align.h"

#include "graph/outside_trace.h"

#include <anyshape/ops.h>

#include <optional>

namespace anyshape::onnx {
namespace {

// ONNX's [c, h, w] or [n, c, h, w] beside an image of that rank, as [n, h, w, c].
Tensor turned(const Value& value, int rank) {
  Tensor tensor = value.tensor();
  const Shape shape = tensor.shape();
  if (shape.rank() == 0) return tensor;
  Shape full;
  for (int axis = shape.rank(); axis < rank; ++axis) full.push_back(1);
  for (const Dim& size : shape) full.push_back(size);
  if (shape.rank() < rank) tensor = reshape(tensor, full);
  return moveaxis(tensor, 1, -1);
}

}  // namespace

bool align_images(std::vector<Value>& values) {
  int rank = 0;
  for (const Value& value : values) {
    if (value.is_image()) rank = value.rank();
  }
  if (rank == 0) return false;
  for (const Value& value : values) {
    if (!value.is_given()) continue;
    if (value.kind() == Value::Kind::Sequence || value.rank() > rank || (value.is_image() && value.rank() != rank)) return false;
  }
  for (Value& value : values) {
    if (!value.is_given()) continue;
    if (value.is_image()) {
      value = Value(value.held(), value.type());
      continue;
    }
    std::optional<OutsideTrace> once;
    if (value.is_constant()) once.emplace();
    Tensor same = turned(value, rank);
    value = value.is_constant() ? Value::constant(std::move(same), value.type()) : Value(std::move(same), value.type());
  }
  return true;
}

}  // namespace anyshape::onnx
