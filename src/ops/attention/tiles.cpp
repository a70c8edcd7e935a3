// Work of attention is cut by sizes only. Tiles are as large as library products want them and small enough for the second cache.
#include "ops/attention/tiles.h"

#include "loop/routines.h"
#include "ops/loops.h"

#include <limits>

namespace anyshape {
namespace {

loop::Value scale_of(LowerCall& call, const AttentionAttrs& attrs, Dtype type, const Dim& depth) {
  loop::Builder& b = call.b;
  if (!attrs.root_scale) return b.constant(type, attrs.scale);
  const loop::Value root = b.unary(loop::Op::SquareRoot, b.cast(b.maximum(call.size(depth), b.integer(1)), type));
  return b.divide(b.constant(type, 1.0), root);
}

}  // namespace

AttentionInputs attention_inputs(const AttentionAttrs& attrs, AttentionForm form, bool is_gradient) {
  AttentionInputs inputs;
  int next = 3;
  if (is_gradient) inputs.dy = next++, inputs.statistics = next++, inputs.products = next++;
  if (attrs.masked) inputs.mask = next++;
  if (attrs.dropout > 0) inputs.random_key = next++;
  if (form == AttentionForm::Segments) inputs.query_splits = next++, inputs.key_splits = next++;
  inputs.count = next;
  return inputs;
}

AttentionLoops::AttentionLoops(LowerCall& lower_call, AttentionForm form, bool is_gradient)
    : call(lower_call),
      b(lower_call.b),
      inputs(attention_inputs(lower_call.call.attrs_as<AttentionAttrs>(), form, is_gradient)),
      type(lower_call.call.inputs[0].dtype),
      heads(lower_call.size(lower_call.call.shape(0)[-2])),
      depth(lower_call.size(lower_call.call.shape(0)[-1])),
      value_depth(lower_call.size(lower_call.call.shape(2)[-1])),
      scale(scale_of(lower_call, lower_call.call.attrs_as<AttentionAttrs>(), type, lower_call.call.shape(0)[-1])),
      attrs_(lower_call.call.attrs_as<AttentionAttrs>()),
      form_(form) {
  const Shape &query = call.call.shape(inputs.query), &key = call.call.shape(inputs.key);
  queries_ = query[-3];
  keys_ = key[-3];
  if (form == AttentionForm::Dense) {
    rows_ = query[0];
    tiles_ = rows_ * ((queries_ + (tile_queries - 1)) / tile_queries);
  } else {
    rows_ = call.call.shape(inputs.query_splits)[0] - 1;
    tiles_ = queries_ / tile_queries + rows_;
  }
  slots_ = min(Dim(most_slots), (is_gradient ? rows_ : tiles_) * query[-2]);
  queries_per_tile_ = call.size(min(Dim(tile_queries), queries_));
  keys_per_tile_ = call.size(min(Dim(tile_keys), keys_));
}

int32_t AttentionLoops::tile_scratch() const {
  return call.scratch(type, slots_ * min(Dim(tile_queries), queries_) * min(Dim(tile_keys), keys_));
}

loop::Value AttentionLoops::scratch_offset(loop::Value slot) const {
  return b.multiply(slot, b.multiply(queries_per_tile_, keys_per_tile_));
}

void AttentionLoops::check_rows() const {
  if (form_ == AttentionForm::Dense) return;
  const loop::Value rows = call.size(rows_), op = b.integer(call.op_number());
  const loop::Builder::Argument query_splits[] = {{call.input(inputs.query_splits), b.integer(0)}};
  const loop::Value whole[] = {rows, call.size(queries_), b.integer(1), op};
  b.call(loop::routine::check_splits, query_splits, whole);  // the keys' are checked as the op's own
  if (!attrs_.masked) return;
  const Shape& mask = call.call.shape(inputs.mask);
  const loop::Builder::Argument key_splits[] = {{call.input(inputs.key_splits), b.integer(0)}};
  const loop::Value queries = call.size(mask[2]), unlimited = b.integer(std::numeric_limits<int64_t>::max());
  const loop::Value most_queries[] = {rows, b.select(b.equal(queries, b.integer(1)), unlimited, queries), op};
  const loop::Value most_keys[] = {rows, call.size(mask[3]), op};
  b.call(loop::routine::check_row_lengths, query_splits, most_queries);
  b.call(loop::routine::check_row_lengths, key_splits, most_keys);
}

AttentionRow AttentionLoops::row_at(loop::Value row, loop::Value head) const {
  const auto ahead = [&](loop::Value queries, loop::Value keys) { return attrs_.causal ? b.subtract(keys, queries) : loop::Value{}; };
  if (form_ == AttentionForm::Dense) {
    const loop::Value queries = call.size(queries_), keys = call.size(keys_);
    return {row, head, b.multiply(row, queries), queries, b.multiply(row, keys), keys, ahead(queries, keys)};
  }
  const auto range = [&](int splits) {
    const loop::Value begin = b.load(call.input(splits), row), end = b.load(call.input(splits), b.add(row, b.integer(1)));
    return std::pair{begin, b.subtract(end, begin)};
  };
  const auto [first_query, queries] = range(inputs.query_splits);
  const auto [first_key, keys] = range(inputs.key_splits);
  return {row, head, first_query, queries, first_key, keys, ahead(queries, keys)};
}

void AttentionLoops::on_slots(loop::Value pieces, const std::function<void(loop::Value, loop::Value)>& body) const {
  const loop::Value slots = b.minimum(pieces, call.size(slots_)), zero = b.integer(0), one = b.integer(1);
  b.each(zero, slots, b.integer(tile_queries * tile_keys), [&](loop::Value slot) {
    const loop::Value turns = b.floor_divide(b.subtract(b.add(pieces, b.subtract(slots, one)), slot), slots);
    b.serial_for(zero, turns, [&](loop::Value turn) { body(b.add(slot, b.multiply(turn, slots)), slot); });
  });
}

void AttentionLoops::for_each_row(const std::function<void(const AttentionRow&, loop::Value)>& body) const {
  on_slots(b.multiply(call.size(rows_), heads),
           [&](loop::Value piece, loop::Value slot) { body(row_at(b.floor_divide(piece, heads), modulo(b, piece, heads)), slot); });
}

AttentionTile AttentionLoops::queries_from(const AttentionRow& row, loop::Value first, loop::Value slot) const {
  const loop::Value queries = b.minimum(b.integer(tile_queries), b.subtract(row.queries, first));
  loop::Value keys = row.keys;
  if (attrs_.causal) keys = b.maximum(b.integer(0), b.minimum(row.keys, b.add(b.add(first, queries), row.ahead)));
  return {row, first, queries, b.integer(0), keys, slot};
}

void AttentionLoops::in_query_tiles(const AttentionRow& row, loop::Value slot,
                                    const std::function<void(const AttentionTile&)>& body) const {
  b.serial_for(b.integer(0), b.ceil_divide(row.queries, tile_queries),
               [&](loop::Value tile) { body(queries_from(row, b.multiply(tile, b.integer(tile_queries)), slot)); });
}

void AttentionLoops::for_each_query_tile(const std::function<void(const AttentionTile&)>& body) const {
  const loop::Value zero = b.integer(0), one = b.integer(1);
  const auto run = [&](loop::Value tiles, const std::function<std::pair<loop::Value, loop::Value>(loop::Value tile)>& find) {
    on_slots(b.multiply(tiles, heads), [&](loop::Value piece, loop::Value slot) {
      const auto [row, first] = find(b.floor_divide(piece, heads));
      body(queries_from(row_at(row, modulo(b, piece, heads)), first, slot));
    });
  };
  if (form_ == AttentionForm::Dense) {
    const loop::Value per_row = b.ceil_divide(call.size(queries_), tile_queries);
    return run(b.multiply(call.size(rows_), per_row), [&](loop::Value tile) {
      return std::pair{b.floor_divide(tile, per_row), b.multiply(modulo(b, tile, per_row), b.integer(tile_queries))};
    });
  }
  // Which row a tile belongs to, and which of its queries is the first: written down in one walk over the rows.
  const int32_t row_of_tile = call.scratch(Dtype::i64, tiles_), first_of_tile = call.scratch(Dtype::i64, tiles_);
  const loop::Value none[] = {zero};
  const std::vector<loop::Value> tiles =
      b.carry_for(zero, call.size(rows_), none, [&](loop::Value row, std::span<const loop::Value> carried) -> std::vector<loop::Value> {
        const loop::Value begin = b.load(call.input(inputs.query_splits), row);
        const loop::Value end = b.load(call.input(inputs.query_splits), b.add(row, one));
        const loop::Value count = b.ceil_divide(b.subtract(end, begin), tile_queries), before = carried[0];
        b.serial_for(zero, count, [&](loop::Value tile) {
          b.store(row_of_tile, b.add(before, tile), row);
          b.store(first_of_tile, b.add(before, tile), b.multiply(tile, b.integer(tile_queries)));
        });
        return {b.add(before, count)};
      });
  run(tiles[0], [&](loop::Value tile) { return std::pair{b.load(row_of_tile, tile), b.load(first_of_tile, tile)}; });
}

void AttentionLoops::in_key_tiles(const AttentionTile& queries, const std::function<void(const AttentionTile&)>& body) const {
  b.serial_for(b.integer(0), b.ceil_divide(queries.keys, tile_keys), [&](loop::Value number) {
    AttentionTile tile = queries;
    tile.key = b.multiply(number, b.integer(tile_keys));
    tile.keys = b.minimum(b.integer(tile_keys), b.subtract(queries.keys, tile.key));
    body(tile);
  });
}

TileMatrix AttentionLoops::query_rows(const AttentionTile& tile, int32_t buffer, loop::Value width) const {
  const loop::Value leading = b.multiply(heads, width);
  const loop::Value first = b.multiply(b.add(tile.row.first_query, tile.query), leading);
  return {buffer, b.add(first, b.multiply(tile.row.head, width)), leading};
}

TileMatrix AttentionLoops::key_rows(const AttentionTile& tile, int32_t buffer, loop::Value width) const {
  const loop::Value leading = b.multiply(heads, width);
  const loop::Value first = b.multiply(b.add(tile.row.first_key, tile.key), leading);
  return {buffer, b.add(first, b.multiply(tile.row.head, width)), leading};
}

void AttentionLoops::product(const TileMatrix& a, const TileMatrix& bb, const TileMatrix& c, loop::Value m, loop::Value n, loop::Value k,
                             loop::Value accumulate) const {
  const loop::Value zero = b.integer(0), one = b.integer(1);
  if (type == Dtype::f32) {
    const loop::Builder::Argument buffers[] = {{a.buffer, a.offset}, {bb.buffer, bb.offset}, {c.buffer, c.offset}};
    const loop::Value integers[] = {
        b.integer(a.transpose ? 1 : 0), b.integer(bb.transpose ? 1 : 0), m, n, k, a.leading, bb.leading, c.leading, accumulate};
    return b.call(loop::routine::product_f32, buffers, integers);
  }
  const loop::Value row_a = a.transpose ? one : a.leading, stride_a = a.transpose ? a.leading : one;
  const loop::Value stride_b = bb.transpose ? one : bb.leading, row_b = bb.transpose ? bb.leading : one;
  b.serial_for(zero, m, [&](loop::Value i) {
    const loop::Value from_a = b.add(a.offset, b.multiply(i, row_a)), to = b.add(c.offset, b.multiply(i, c.leading));
    b.elements(zero, n, [&](loop::Value column) {
      const loop::Value from_b = b.add(bb.offset, b.multiply(column, row_b)), nothing = b.constant(type, 0.0);
      const loop::Value start[] = {b.select(b.equal(accumulate, zero), nothing, b.load(c.buffer, b.add(to, column)))};
      const std::vector<loop::Value> total =
          b.carry_for(zero, k, start, [&](loop::Value inner, std::span<const loop::Value> carried) -> std::vector<loop::Value> {
            const loop::Value x = b.load(a.buffer, b.add(from_a, b.multiply(inner, stride_a)));
            const loop::Value y = b.load(bb.buffer, b.add(from_b, b.multiply(inner, stride_b)));
            return {b.fma(x, y, carried[0])};
          });
      b.store(c.buffer, b.add(to, column), total[0]);
    });
  });
}

}  // namespace anyshape
