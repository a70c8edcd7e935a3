// Ragged rules that ops share. Axes are those of the padded view: 0 the rows, 1 the ragged one, the others the values' own.
#pragma once
#include "graph/ragged.h"
#include "ops/ragged/partition.h"

#include <anyshape/ops/movement.h>

#include <functional>

namespace anyshape {

// The padded view's axis, counted from the front; ShapeError outside the rank.
int padded_axis(const RaggedCall& call, int64_t axis, int rank);

// Whether this axis of x (negative counts from the end) is a ragged one.
bool is_ragged_axis(const Tensor& x, int64_t axis);

// The values of x under another op, in the same rows.
Tensor on_values(const Tensor& x, const std::function<Tensor(const Tensor& values)>& body);

// A reduction with ReduceAttrs: along rows by a segment op, column by column on the padded tensor, else on the values.
struct RowReduction {
  Tensor (*of_rows)(const Tensor& values, const Tensor& splits);
  Tensor (*of_nothing)(Dtype dtype);  // stands for what a column has no element of
};
std::vector<Tensor> reduce_ragged(const RaggedCall& call, const RowReduction& reduction);

// The number of elements that a reduction makes one of, in a shape that broadcasts with its result. Of any tensor.
Tensor reduced_size(const Tensor& x, const std::vector<int64_t>& axes, bool keep_dims, Dtype dtype);

Tensor slice_ragged(const Tensor& x, const std::vector<SliceRange>& ranges);

}  // namespace anyshape
