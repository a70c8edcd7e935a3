// Validation of shapes that come as arguments.
#include "ops/sizes.h"

#include <fmt/format.h>

namespace anyshape {

void require_sizes(OpCall& call, const Shape& shape) {
  for (const Dim& size : shape) {
    call.require({Relation::LessEqual, 0, size}, fmt::format("shape {} has the size {}", to_string(shape), to_string(size)),
                 "sizes of at least 0");
  }
  if (shape.is_constant()) static_cast<void>(shape.count());  // throws where it overflows
}

Dim count_between(const Shape& shape, int begin, int end) {
  Dim count = 1;
  for (int axis = begin; axis < end; ++axis) count = count * shape[axis];
  return count;
}

}  // namespace anyshape
