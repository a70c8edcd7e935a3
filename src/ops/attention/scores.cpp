// Scores of a tile: what scale, mask and causality make of a product, and which weights dropout keeps.
#include "loop/math.h"
#include "ops/attention/tiles.h"
#include "shape/prove.h"

#include <limits>

namespace anyshape {

// The mask is row-major; along an axis of size 1 one entry is met again and again. Its last axis is never repeated.
loop::Value AttentionLoops::mask_offset(const AttentionTile& tile, loop::Value i, loop::Value k) const {
  const Shape& mask = call.call.shape(inputs.mask);
  const loop::Value index[] = {tile.row.row, tile.row.head, b.add(tile.query, i)};
  loop::Value offset = b.integer(0);
  for (int axis = 0; axis < 3; ++axis) {
    const loop::Value size = call.size(mask[axis]);
    offset = b.add(b.multiply(offset, size), b.select(b.equal(size, b.integer(1)), b.integer(0), index[axis]));
  }
  return b.add(b.add(b.multiply(offset, call.size(mask[3])), tile.key), k);
}

loop::Value AttentionLoops::is_past(const AttentionTile& tile, loop::Value i, loop::Value k) const {
  return b.binary(loop::Op::LessEqual, b.add(tile.key, k), b.add(b.add(tile.query, i), tile.row.ahead));
}

loop::Value AttentionLoops::meets_nothing(const AttentionTile& tile, loop::Value i) const {
  if (!attrs_.causal || (form_ == AttentionForm::Dense && proves_less_equal(queries_, keys_) == true)) return {};
  return b.less(b.add(b.add(tile.query, i), tile.row.ahead), b.integer(0));
}

loop::Value AttentionLoops::is_shown(const AttentionTile& tile, loop::Value i, loop::Value k) const {
  const loop::Value by_mask = attrs_.masked ? b.load(call.input(inputs.mask), mask_offset(tile, i, k)) : loop::Value{};
  if (!attrs_.causal) return by_mask;
  const loop::Value by_order = is_past(tile, i, k);
  return by_mask ? b.binary(loop::Op::And, by_mask, by_order) : by_order;
}

loop::Value AttentionLoops::score(const AttentionTile& tile, loop::Value i, loop::Value k, loop::Value raw) const {
  loop::Value result = b.multiply(raw, scale);
  if (attrs_.masked) {
    const double lowest = -0.7 * (type == Dtype::f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max());
    result = b.select(b.load(call.input(inputs.mask), mask_offset(tile, i, k)), result, b.constant(type, lowest));
  }
  if (attrs_.causal) {
    result = b.select(is_past(tile, i, k), result, b.constant(type, -std::numeric_limits<double>::infinity()));
  }
  return result;
}

// The draw belongs to row, head, query and key, wherever they stand: rows that are padded draw as ragged ones do, and so does the gradient.
loop::Value AttentionLoops::keep_factor(const AttentionTile& tile, loop::Value i, loop::Value k) const {
  const loop::Value key = b.load(call.input(inputs.random_key), b.integer(0));
  const loop::Value line = b.add(b.multiply(tile.row.row, heads), tile.row.head);
  const loop::Value pair = b.add(b.binary(loop::Op::ShiftLeft, b.add(tile.query, i), b.integer(32)), b.add(tile.key, k));
  const loop::Value drawn = loop::uniform_from_words(b, loop::philox(b, key, line, pair), type);
  const loop::Value is_dropped = b.less(drawn, b.constant(type, attrs_.dropout));
  return b.select(is_dropped, b.constant(type, 0.0), b.constant(type, 1 / (1 - attrs_.dropout)));
}

}  // namespace anyshape
