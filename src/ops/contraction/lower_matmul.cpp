// A product is the library's work (f32), or rows on the pool with columns in vector lanes.
#include "ops/contraction/lower_matmul.h"

#include "ops/contraction/pack_operand.h"
#include "ops/loops.h"
#include "ops/sizes.h"

#include <optional>
#include <utility>

namespace anyshape {
namespace {

struct Sizes {
  loop::Value m, n, k;
  loop::Value row_a, stride_a;  // strides of a along m and k
  loop::Value stride_b, row_b;  // strides of b along k and n
};

// The distance between rows as stored; within a row elements are neighbours.
Dim leading(LowerCall& call, int operand) { return call.stride(operand, call.call.shape(operand).rank() - 2); }

Dim terms(const LowerCall& call, const MatmulAttrs& attrs) { return call.call.shape(0)[attrs.transpose_a ? -2 : -1]; }

// How far apart, along an axis of the result's batch, the matrices of an operand are: 0 where one is met again and again, for its axis has size 1.
Dim step_of(LowerCall& call, int operand, int axis) {
  const Shape& shape = call.call.shape(operand);
  const Shape& result = call.outputs[0].shape;
  const int own = axis - (result.rank() - shape.rank());
  if (own < 0) return 0;
  const Dim stride = call.stride(operand, own);
  return shape[own].same_as(result[axis]) ? stride : stride * min(1, shape[own] - 1);
}

// The library's work for a product in f32.
void library_product(LowerCall& call, const MatmulAttrs& attrs) {
  const Shape &result = call.outputs[0].shape, &shape_a = call.call.shape(0), &shape_b = call.call.shape(1), batch = batch_shape(result);
  ProductWork work{
      .transpose_a = attrs.transpose_a,
      .transpose_b = attrs.transpose_b,
      .sizes = {.m = result[-2], .n = result[-1], .k = terms(call, attrs), .distance_a = leading(call, 0), .distance_b = leading(call, 1)}};
  ProductSizes<Dim>& sizes = work.sizes;
  const bool rows_go_on = shape_a.rank() == 2 || call.is_row_major(0);
  // With one matrix b, a batch of a is just more rows.
  if (!attrs.transpose_a && is_one_matrix(shape_b) && rows_go_on) {
    sizes.m = batch.count() * sizes.m;
  } else {
    sizes.axes = batch.rank();
    for (int axis = 0; axis < batch.rank(); ++axis)
      sizes.batch[static_cast<size_t>(axis)] = {batch[axis], step_of(call, 0, axis), step_of(call, 1, axis)};
  }
  std::vector<LowerCall::Scratch> scratch;
  if (const std::optional<PackedOperand> packed = pack_operand(call, attrs, batch.count() * result[-2])) {
    sizes.packs = packed->is_used;
    sizes.packed_distance = packed->distance;
    scratch.push_back({Dtype::f32, packed->count});
  }
  call.use_library(work, std::move(scratch));
}

Sizes sizes_of(LowerCall& call, const MatmulAttrs& attrs) {
  loop::Builder& b = call.b;
  const Shape& result = call.outputs[0].shape;
  Sizes s;
  s.m = call.size(result[-2]);
  s.n = call.size(result[-1]);
  s.k = call.size(terms(call, attrs));
  const loop::Value one = b.integer(1), lda = call.size(leading(call, 0)), ldb = call.size(leading(call, 1));
  s.row_a = attrs.transpose_a ? one : lda;
  s.stride_a = attrs.transpose_a ? lda : one;
  s.stride_b = attrs.transpose_b ? one : ldb;
  s.row_b = attrs.transpose_b ? ldb : one;
  return s;
}

void generated_row(LowerCall& call, const Sizes& s, loop::Value row_of_a, loop::Value start_of_b, loop::Value row_of_c) {
  loop::Builder& b = call.b;
  const Dtype type = call.outputs[0].dtype;
  const int32_t a = call.input(0), bb = call.input(1), c = call.output(0);
  b.elements(b.integer(0), s.n, [&](loop::Value column) {
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
  const MatmulAttrs& attrs = call.call.attrs_as<MatmulAttrs>();
  if (call.outputs[0].dtype == Dtype::f32) return library_product(call, attrs);
  loop::Builder& b = call.b;
  const Sizes s = sizes_of(call, attrs);
  const Shape batch = batch_shape(call.outputs[0].shape);
  std::vector<loop::Value> batch_sizes;
  for (const Dim& size : batch) batch_sizes.push_back(call.size(size));
  const auto begin_of = [&](int operand, std::span<const loop::Value> entry) {
    loop::Value offset = b.integer(0);
    for (int axis = 0; axis < batch.rank(); ++axis)
      offset = b.add(offset, b.multiply(entry[static_cast<size_t>(axis)], call.size(step_of(call, operand, axis))));
    return offset;
  };
  const loop::Value zero = b.integer(0);
  b.each(zero, b.multiply(call.size(batch.count()), s.m), b.multiply(s.n, s.k), [&](loop::Value at) {
    const std::vector<loop::Value> entry = unravel(b, b.floor_divide(at, s.m), batch_sizes);
    const loop::Value row = modulo(b, at, s.m), row_of_a = b.add(begin_of(0, entry), b.multiply(row, s.row_a));
    generated_row(call, s, row_of_a, begin_of(1, entry), b.multiply(at, s.n));
    call.written({at, b.add(at, b.integer(1)), zero, s.n});
  });
}

}  // namespace anyshape
