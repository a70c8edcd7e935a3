// segment_sort: values [total, ...], row splits -> each row in order, and where its elements stood in the row, as i32. Stable, NaN last.
#include "graph/bind.h"
#include "ops/all_ops.h"
#include "ops/index/take_along_axis.h"
#include "ops/segment/segments.h"
#include "ops/sizes.h"

#include <anyshape/ops.h>

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

void lower(LowerCall& call) {
  const Shape& values = call.call.shape(0);
  const Dtype dtype = call.outputs[0].dtype;
  const SortSizes<Dim> sizes{
      .outer = call.call.shape(1)[0] - 1, .size = values[0], .count = values[0], .inner = count_between(values, 1, values.rank())};
  const bool descending = call.call.attrs_as<SortAttrs>().descending;
  call.use_library(SortWork{.dtype = dtype, .descending = descending, .by_splits = true, .sizes = sizes},
                   {{Dtype::i64, values.count() * SortWork::key_words(dtype)}});
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
