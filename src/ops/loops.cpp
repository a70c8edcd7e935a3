// Parts of contiguous elements for the pool, and row-major numbering.
#include "ops/loops.h"

namespace anyshape {

// Elements per part: enough to pay for a task, few enough that two cores share a tensor of some ten thousand.
static constexpr int64_t part_size = 16384;

void for_each_part(loop::Builder& b, loop::Value rows, loop::Value length, const PartBody& body) {
  const loop::Value parts = b.ceil_divide(length, part_size);
  const loop::Value rows_per_task = b.maximum(b.integer(1), b.floor_divide(b.integer(part_size), length));
  b.parallel_for(b.integer(0), b.multiply(rows, parts), rows_per_task, [&](loop::Value task) {
    const loop::Value begin = b.multiply(modulo(b, task, parts), b.integer(part_size));
    body(b.floor_divide(task, parts), begin, b.minimum(b.add(begin, b.integer(part_size)), length));
  });
}

void fill(loop::Builder& b, int32_t buffer, loop::Value count, loop::Value value) {
  for_each_part(b, b.integer(1), count, [&](loop::Value, loop::Value begin, loop::Value end) {
    b.vector_for(begin, end, [&](loop::Value i) { b.store(buffer, i, value); });
  });
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
