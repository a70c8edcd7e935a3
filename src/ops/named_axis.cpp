// Refusals of composed ops, in the words that bound ops use.
#include "ops/named_axis.h"

#include "tensor/tensor_impl.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape {

void refuse(std::string_view op, const Tensor& x, std::string_view what, std::string_view expected) {
  throw ShapeError(fmt::format("{}: {}: x is {}{}; expected {}.", op, what, to_string(x.dtype()), to_string(x.shape()), expected));
}

int require_axis(std::string_view op, const Tensor& x, int64_t axis) { return require_axis(op, x, axis, x.rank()); }

int require_axis(std::string_view op, const Tensor& x, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    refuse(op, x, fmt::format("axis {} is outside the rank {}", axis, rank), fmt::format("{} <= axis < {}", -rank, rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace anyshape
