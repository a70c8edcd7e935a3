// segment_sort: values [total, ...], row splits -> each row in order, and where its elements stood in the row, as i32. Stable, NaN last.
#include "graph/bind.h"
#include "ops/all_ops.h"
#include "ops/index/take_along_axis.h"
#include "ops/segment/segments.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <limits>

namespace anyshape {
namespace {

struct SortAttrs {
  bool descending = false;
  template <class V>
  void visit(V& v) {
    v("descending", descending);
  }
};

Specs shape(OpCall& call) {
  const Shape result = segment_wise_shape(call)[0].shape;
  call.require({Relation::LessEqual, result[0], std::numeric_limits<int32_t>::max()}, "there are too many values for i32 positions",
               "at most 2147483647 values");
  return {{call.inputs[0].dtype, result, {}}, {Dtype::i32, result, {}}};
}

// Each column of a row is one library call; its keys stand in scratch memory where the row stands.
void lower(LowerCall& call) {
  loop::Builder& b = call.b;
  const Dtype dtype = call.outputs[0].dtype;
  const int64_t words = size_of(dtype) == 8 ? 2 : 1;  // of a key: see runtime/cpu/sort.h
  const int32_t x = call.input(0), values = call.output(0), positions = call.output(1);
  const int32_t keys = call.scratch(Dtype::i64, call.outputs[0].shape.count() * words);
  const loop::Value descending = b.integer(call.call.attrs_as<SortAttrs>().descending ? 1 : 0);
  const SegmentLoop rows(call, call.call.shape(0));
  rows.run([&](const Segment& segment) {
    b.serial_for(segment.first, segment.last, [&](loop::Value column) {
      const loop::Value size = b.subtract(segment.end, segment.begin), start = rows.offset(segment.begin, column);
      const loop::Value key = b.multiply(b.add(rows.offset(segment.begin), b.multiply(column, size)), b.integer(words));
      const loop::Builder::Argument buffers[] = {{x, start}, {values, start}, {positions, start}, {keys, key}};
      const loop::Value integers[] = {size, size, rows.width(), descending};
      b.call(fmt::format("sort_{}", to_string(dtype)), buffers, integers);
    });
  });
}

// Back to where the elements stood, counted from the first of all.
std::vector<Tensor> gradient(const GradientCall& call) {
  const Tensor &splits = call.inputs[1], &positions = call.outputs[1];
  const Shape shape = call.inputs[0].shape();
  Shape per_value = {shape[0]};
  for (int axis = 1; axis < shape.rank(); ++axis) per_value.push_back(1);
  const Tensor starts = segment::repeat(segment::row_starts(splits), splits, shape[0]);
  return {take_along_axis_gradient(call.dys[0], cast(positions, Dtype::i64) + reshape(starts, per_value), 0, shape), {}};
}

std::vector<Tensor> sorted(const Tensor& values, const Tensor& splits, const segment::SortOptions& options) {
  const Tensor inputs[] = {values, splits};
  return bind_all(segment_sort_op, inputs, SortAttrs{options.descending});
}

}  // namespace

constinit const OpDef segment_sort_op{.name = "segment_sort",
                                      .kind = OpKind::Opaque,
                                      .inputs = 2,
                                      .dtype = dtype_rule::splits_last,
                                      .shape = shape,
                                      .gradient = gradient,
                                      .lower = lower,
                                      .attrs = [] { return Attrs(SortAttrs{}); },
                                      .splits = splits_of_values};

Tensor segment::sort(const Tensor& values, const Tensor& splits, SortOptions options) { return sorted(values, splits, options)[0]; }
Tensor segment::argsort(const Tensor& values, const Tensor& splits, SortOptions options) { return sorted(values, splits, options)[1]; }

}  // namespace anyshape
