// Reductions of ragged tensors.
#include "graph/bind.h"
#include "ops/ragged/rules.h"
#include "ops/reduce/axes.h"
#include "ops/source/size.h"

#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>
#include <anyshape/ragged.h>

#include <algorithm>

namespace anyshape {
namespace {

struct Fates {
  bool rows = false, along = false;
  std::vector<int64_t> own = {};  // axes of the values beside the first
};

Fates fates_of(const std::vector<int64_t>& axes) {
  Fates fates;
  for (int64_t axis : axes) {
    if (axis == 0)
      fates.rows = true;
    else if (axis == 1)
      fates.along = true;
    else
      fates.own.push_back(axis - 1);
  }
  return fates;
}

// How many rows reach each column, i64[longest].
Tensor rows_per_column(const Tensor& x) {
  const Tensor lengths = expand_dims(row_lengths(x), 1);
  const Dim longest = to_padded(x).shape()[1];
  return sum(cast(arange(longest, {.dtype = Dtype::i64}) < lengths, Dtype::i64), {.axes = {0}});
}

}  // namespace

std::vector<Tensor> reduce_ragged(const RaggedCall& call, const RowReduction& reduction) {
  const Tensor& x = call.inputs[0];
  const auto& [values, partition] = *as_ragged(x);
  const ReduceAttrs& attrs = call.attrs.as<ReduceAttrs>();
  const TensorSpec spec{x.dtype(), x.shape(), {}};
  static_cast<void>(reduce_fates(OpCall(call.op, {&spec, 1}, call.attrs)));  // refuses axes outside the rank and those named twice
  Fates fates = fates_of(attrs.axes);
  if (fates.rows && !fates.along) return {bind(call.op, {to_padded(x, {.value = reduction.of_nothing(x.dtype())})}, attrs)};
  if (fates.rows) fates.own.push_back(0);
  const Tensor reduced = fates.own.empty() ? values : bind(call.op, {values}, ReduceAttrs{fates.own, attrs.keep_dims});
  if (!fates.along) return {make_ragged(reduced, partition)};
  const Tensor result = fates.rows ? reduced : reduction.of_rows(reduced, partition->splits);
  return {attrs.keep_dims ? expand_dims(result, 1) : result};
}

Tensor reduced_size(const Tensor& x, const std::vector<int64_t>& axes, bool keep_dims, Dtype dtype) {
  const Shape shape = x.shape();
  if (!x.is_ragged()) return size_tensor(reduced_count(shape, axes), dtype);
  const Partition& partition = *as_ragged(x)->partition;
  const Fates fates = fates_of(axes);
  const Dim own = reduced_count(x.values().shape(), fates.own);
  if (fates.rows == fates.along) return size_tensor(fates.rows ? own * partition.total : own, dtype);
  const Tensor counts = (fates.along ? row_lengths(x) : rows_per_column(x)) * size_tensor(own, Dtype::i64);
  Shape beside;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool reduced = std::ranges::find(axes, axis) != axes.end();
    if (!reduced && axis < 2)
      beside.push_back(counts.shape()[0]);
    else if (!reduced || keep_dims)
      beside.push_back(1);
  }
  return cast(reshape(counts, beside), dtype);
}

}  // namespace anyshape
