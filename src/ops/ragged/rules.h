// Ragged rules that ops share. Axes are those of the padded view: 0 the rows, 1 the ragged one, the others the values' own.
#pragma once
#include "graph/named_call.h"
#include "graph/ragged.h"
#include "ops/ragged/partition.h"

#include <anyshape/ops/movement.h>

#include <functional>

namespace anyshape {

// The padded view's axis, counted from the front; ShapeError outside the rank.
int padded_axis(const RaggedCall& call, int64_t axis, int rank);

// Whether this axis of x (negative counts from the end) is a ragged one.
bool is_ragged_axis(const Tensor& x, int64_t axis);

// For functions made of ops: the values' axis that an axis of the padded view is. ShapeError under the call's name for the rows and the ragged
// axis.
int values_axis(const NamedCall& call, int axis);
[[noreturn]] void refuse_rows(const NamedCall& call, std::string_view what);  // ShapeError: only axes behind the ragged one will do

// The values of x under another op, in the same rows.
Tensor on_values(const Tensor& x, const std::function<Tensor(const Tensor& values)>& body);
std::vector<Tensor> parts_of_values(const Tensor& x, const std::function<std::vector<Tensor>(const Tensor& values)>& body);

// A reduction with ReduceAttrs: along rows by a segment op, column by column on the padded tensor, else on the values.
struct RowReduction {
  Tensor (*of_rows)(const Tensor& values, const Tensor& splits);
  Tensor (*of_nothing)(Dtype dtype);  // stands for what a column has no element of
};
std::vector<Tensor> reduce_ragged(const RaggedCall& call, const RowReduction& reduction);

// The number of elements that a reduction makes one of, in a shape that broadcasts with its result. Of any tensor.
Tensor reduced_size(const Tensor& x, const std::vector<int64_t>& axes, bool keep_dims, Dtype dtype);

// einsum where an operand is ragged: its rows and lengths begin the result.
Tensor einsum_ragged(const NamedCall& call, std::string_view subscripts, const std::vector<Tensor>& operands);

Tensor row_under_name(std::string_view op, const Tensor& x, int64_t index);  // row(x, index), told under another name
Tensor slice_ragged(const Tensor& x, const std::vector<SliceRange>& ranges);

}  // namespace anyshape
