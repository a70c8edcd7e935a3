// The loops of a product: tiles on the pool, each some library calls (f32), or rows on the pool with columns in vector lanes.
#include "ops/contraction/lower_matmul.h"

#include "loop/routine_names.h"
#include "ops/contraction/pack_operand.h"
#include "ops/loops.h"
#include "ops/sizes.h"

#include <array>
#include <functional>

namespace anyshape {
namespace {

// Where the matrices of a and b begin that belong to an entry of the batch.
using Offsets = std::function<std::array<loop::Value, 2>(loop::Value entry)>;

struct Sizes {
  loop::Value m, n, k;
  loop::Value row_a, stride_a;  // strides of a along m and k
  loop::Value stride_b, row_b;  // strides of b along k and n
};

loop::Value ceil_divide(loop::Builder& b, loop::Value length, loop::Value piece) {
  return b.floor_divide(b.add(length, b.subtract(piece, b.integer(1))), piece);
}

// The distance between rows as stored; within a row elements are neighbours.
loop::Value leading(LowerCall& call, int operand) { return call.size(call.stride(operand, call.call.shape(operand).rank() - 2)); }

Sizes sizes_of(LowerCall& call, const MatmulAttrs& attrs) {
  loop::Builder& b = call.b;
  const Shape& result = call.outputs[0].shape;
  Sizes s;
  s.m = call.size(result[-2]);
  s.n = call.size(result[-1]);
  s.k = call.size(call.call.shape(0)[attrs.transpose_a ? -2 : -1]);
  const loop::Value one = b.integer(1), lda = leading(call, 0), ldb = leading(call, 1);
  s.row_a = attrs.transpose_a ? one : lda;
  s.stride_a = attrs.transpose_a ? lda : one;
  s.stride_b = attrs.transpose_b ? one : ldb;
  s.row_b = attrs.transpose_b ? ldb : one;
  return s;
}

// Where the matrix of an operand begins that meets entry `index` of the result's batch: along an axis of size 1 one is met again and again.
loop::Value matrix_of(LowerCall& call, int operand, std::span<const loop::Value> index) {
  loop::Builder& b = call.b;
  const Shape& shape = call.call.shape(operand);
  const int rank = shape.rank() - 2;
  const size_t added = index.size() - static_cast<size_t>(rank);
  loop::Value offset = b.integer(0);
  for (int axis = 0; axis < rank; ++axis) {
    const loop::Value is_one = b.equal(call.size(shape[axis]), b.integer(1));
    const loop::Value entry = b.select(is_one, b.integer(0), index[added + static_cast<size_t>(axis)]);
    offset = b.add(offset, b.multiply(entry, call.size(call.stride(operand, axis))));
  }
  return offset;
}

// Of the result, in all entries of the batch.
Dim rows_of(const LowerCall& call) {
  const Shape& result = call.outputs[0].shape;
  return batch_shape(result).count() * result[-2];
}

// Batch entry after batch entry, tile by tile: a tile is one task, written in blocks of rows that are handed on while they are in cache.
void library_products(LowerCall& call, const MatmulAttrs& attrs, const Sizes& s, loop::Value entries, const Offsets& offsets_of) {
  loop::Builder& b = call.b;
  const loop::Value zero = b.integer(0), one = b.integer(1), lda = leading(call, 0), ldb = leading(call, 1);
  const loop::Value transpose_a = attrs.transpose_a ? one : zero, transpose_b = attrs.transpose_b ? one : zero;
  const std::optional<PackedOperand> packed = pack_operand(call, attrs, rows_of(call));
  const int32_t plan = call.scratch(Dtype::i64, 4), matrix_a = call.input(0), matrix_b = call.input(1), matrix_c = call.output(0);
  const loop::Builder::Argument planned[] = {{plan, zero}};
  const loop::Value turned = attrs.transpose_a ? one : packed ? b.select(packed->is_used, zero, transpose_b) : transpose_b;
  b.call(loop::routine::plan_product, planned, {{turned, s.m, s.n, s.k}});
  const loop::Value rows = b.load(plan, zero), columns = b.load(plan, b.integer(1)), block_rows = b.load(plan, b.integer(2));
  const loop::Value down = ceil_divide(b, s.m, rows), across = ceil_divide(b, s.n, columns), tiles = b.multiply(down, across);
  b.parallel_for(zero, b.multiply(entries, tiles), b.load(plan, b.integer(3)), [&](loop::Value task) {
    const std::vector<loop::Value> at = unravel(b, task, std::array{entries, down, across});
    const std::array<loop::Value, 2> offsets = offsets_of(at[0]);
    const loop::Value first_row = b.multiply(at[1], rows), end_row = b.minimum(b.add(first_row, rows), s.m);
    const loop::Value first_column = b.multiply(at[2], columns), end_column = b.minimum(b.add(first_column, columns), s.n);
    const loop::Value from_b = b.add(offsets[1], b.multiply(first_column, s.row_b)), width = b.subtract(end_column, first_column);
    b.serial_for(zero, ceil_divide(b, b.subtract(end_row, first_row), block_rows), [&](loop::Value block) {
      const loop::Value begin = b.add(first_row, b.multiply(block, block_rows)), end = b.minimum(b.add(begin, block_rows), end_row);
      const loop::Value row_of_c = b.add(b.multiply(at[0], s.m), begin);
      const loop::Value from_a = b.add(offsets[0], b.multiply(begin, s.row_a)), to_c = b.add(b.multiply(row_of_c, s.n), first_column);
      const auto multiply = [&](int32_t right, loop::Value from, loop::Value is_transposed, loop::Value distance) {
        const loop::Builder::Argument buffers[] = {{matrix_a, from_a}, {right, from}, {matrix_c, to_c}};
        b.call(loop::routine::product_block_f32, buffers,
               {{transpose_a, is_transposed, b.subtract(end, begin), width, s.k, lda, distance, s.n, zero}});
      };
      const auto in_place = [&] { multiply(matrix_b, from_b, transpose_b, ldb); };
      if (packed)
        b.if_(packed->is_used, [&] { multiply(packed->buffer, first_column, zero, packed->distance); }, in_place);
      else
        in_place();
      call.written({row_of_c, b.add(row_of_c, b.subtract(end, begin)), first_column, end_column});
    });
  });
}

void generated_row(LowerCall& call, const Sizes& s, loop::Value row_of_a, loop::Value start_of_b, loop::Value row_of_c) {
  loop::Builder& b = call.b;
  const Dtype type = call.outputs[0].dtype;
  const int32_t a = call.input(0), bb = call.input(1), c = call.output(0);
  b.vector_for(b.integer(0), s.n, [&](loop::Value column) {
    const loop::Value from = b.add(start_of_b, b.multiply(column, s.row_b));
    const loop::Value zero[] = {b.constant(type, int64_t{0})};
    const std::vector<loop::Value> total =
        b.carry_for(b.integer(0), s.k, zero, [&](loop::Value inner, std::span<const loop::Value> carried) -> std::vector<loop::Value> {
          const loop::Value x = b.load(a, b.add(row_of_a, b.multiply(inner, s.stride_a)));
          const loop::Value y = b.load(bb, b.add(from, b.multiply(inner, s.stride_b)));
          return {is_floating(type) ? b.fma(x, y, carried[0]) : b.add(b.multiply(x, y), carried[0])};
        });
    b.store(c, b.add(row_of_c, column), total[0]);
  });
}

}  // namespace

Shape batch_shape(const Shape& shape) {
  Shape batch;
  for (int axis = 0; axis + 2 < shape.rank(); ++axis) batch.push_back(shape[axis]);
  return batch;
}

bool is_one_matrix(const Shape& shape) {
  for (int axis = 0; axis + 2 < shape.rank(); ++axis) {
    if (!shape[axis].same_as(1)) return false;
  }
  return true;
}

void lower_matmul(LowerCall& call) {
  loop::Builder& b = call.b;
  const MatmulAttrs& attrs = call.call.attrs_as<MatmulAttrs>();
  Sizes s = sizes_of(call, attrs);
  const Shape &shape_a = call.call.shape(0), &shape_b = call.call.shape(1), batch = batch_shape(call.outputs[0].shape);
  const bool rows_go_on = shape_a.rank() == 2 || call.is_row_major(0);
  const bool library = call.outputs[0].dtype == Dtype::f32;
  const loop::Value count = call.size(batch.count()), zero = b.integer(0);
  // With one matrix b, a batch of a is just more rows.
  if (library && !attrs.transpose_a && is_one_matrix(shape_b) && rows_go_on) {
    s.m = b.multiply(count, s.m);
    return library_products(call, attrs, s, b.integer(1), [&](loop::Value) { return std::array{zero, zero}; });
  }

  std::vector<loop::Value> batch_sizes;
  for (const Dim& size : batch) batch_sizes.push_back(call.size(size));
  const Offsets offsets_of = [&](loop::Value entry) -> std::array<loop::Value, 2> {
    const std::vector<loop::Value> index = unravel(b, entry, batch_sizes);
    return {matrix_of(call, 0, index), matrix_of(call, 1, index)};
  };
  if (library) return library_products(call, attrs, s, count, offsets_of);
  const loop::Value grain = b.maximum(b.integer(1), b.floor_divide(b.integer(16384), b.multiply(s.n, s.k)));
  b.parallel_for(zero, b.multiply(count, s.m), grain, [&](loop::Value task) {
    const std::array<loop::Value, 2> offsets = offsets_of(b.floor_divide(task, s.m));
    const loop::Value row = modulo(b, task, s.m);
    generated_row(call, s, b.add(offsets[0], b.multiply(row, s.row_a)), offsets[1], b.multiply(task, s.n));
    call.written({task, b.add(task, b.integer(1)), zero, s.n});
  });
}

}  // namespace anyshape
