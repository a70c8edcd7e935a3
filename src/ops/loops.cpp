// Filling, and row-major numbering.
#include "ops/loops.h"

namespace anyshape {

void fill(loop::Builder& b, int32_t buffer, loop::Value count, loop::Value value) {
  b.ranges(count, b.integer(1), loop::Walk::Once,
           [&](loop::Value begin, loop::Value end) { b.elements(begin, end, [&](loop::Value i) { b.store(buffer, i, value); }); });
}

std::vector<loop::Value> unravel(loop::Builder& b, loop::Value number, std::span<const loop::Value> sizes) {
  std::vector<loop::Value> index(sizes.size());
  for (size_t axis = sizes.size(); axis-- > 0;) {
    index[axis] = axis == 0 ? number : modulo(b, number, sizes[axis]);
    if (axis > 0) number = b.floor_divide(number, sizes[axis]);
  }
  return index;
}

loop::Value ravel(loop::Builder& b, std::span<const loop::Value> index, std::span<const loop::Value> sizes) {
  loop::Value number = b.integer(0);
  for (size_t axis = 0; axis < index.size(); ++axis) number = b.add(b.multiply(number, sizes[axis]), index[axis]);
  return number;
}

loop::Value modulo(loop::Builder& b, loop::Value a, loop::Value divisor) { return b.binary(loop::Op::Modulo, a, divisor); }

}  // namespace anyshape
