// concat: tensors that agree but along one axis -> one after the other along it. stack: equal shapes -> one after the other along a new axis.
#include "ops/movement/concat.h"
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/loops.h"
#include "ops/movement/slice.h"
#include "ops/ragged/rules.h"
#include "ops/sizes.h"

#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

Specs shape(OpCall& call) {
  Shape result = call.shape(0);
  const int rank = result.rank();
  const int along = call.axis(call.attrs_as<ConcatAttrs>().axis, rank);
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    const Shape& shape = call.shape(static_cast<int>(i));
    if (shape.rank() != rank) call.fail("ranks differ", "tensors of one rank");
    for (int axis = 0; axis < rank; ++axis) {
      if (axis == along)
        result[axis] = result[axis] + shape[axis];
      else
        call.require({Relation::Equal, result[axis], shape[axis]}, fmt::format("sizes along axis {} differ", axis),
                     fmt::format("equal sizes along every axis but {}", along));
    }
  }
  return {{call.inputs[0].dtype, std::move(result), {}}};
}

std::vector<Tensor> gradient(const GradientCall& call) {
  const Shape first = call.inputs[0].shape();
  const int64_t axis = call.attrs.as<ConcatAttrs>().axis;
  const int along = static_cast<int>(axis < 0 ? axis + first.rank() : axis);
  std::vector<Tensor> result(call.inputs.size());
  Dim begin = 0;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Dim size = call.inputs[i].shape()[along];
    if (call.needed[i]) result[i] = slice_along(call.dys[0], along, begin, size);
    begin = begin + size;
  }
  return result;
}

Specs stack_shape(OpCall& call) {
  const Shape& first = call.shape(0);
  if (first.rank() == max_rank)
    call.fail(fmt::format("the result would have rank {}", max_rank + 1), fmt::format("a result of at most rank {}", max_rank));
  const int along = call.axis(call.attrs_as<ConcatAttrs>().axis, first.rank() + 1);
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    const Shape& shape = call.shape(static_cast<int>(i));
    if (shape.rank() != first.rank()) call.fail("ranks differ", "tensors of one shape");
    for (int axis = 0; axis < first.rank(); ++axis) {
      call.require({Relation::Equal, first[axis], shape[axis]}, fmt::format("sizes along axis {} differ", axis), "tensors of one shape");
    }
  }
  Shape result;
  for (int axis = 0; axis < first.rank(); ++axis) {
    if (axis == along) result.push_back(static_cast<int64_t>(call.inputs.size()));
    result.push_back(first[axis]);
  }
  if (along == first.rank()) result.push_back(static_cast<int64_t>(call.inputs.size()));
  return {{call.inputs[0].dtype, std::move(result), {}}};
}

std::vector<Tensor> stack_gradient(const GradientCall& call) {
  const int rank = call.inputs[0].rank() + 1;
  const int64_t axis = call.attrs.as<ConcatAttrs>().axis;
  const int along = static_cast<int>(axis < 0 ? axis + rank : axis);
  std::vector<Tensor> result(call.inputs.size());
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.needed[i]) result[i] = reshape(slice_along(call.dys[0], along, static_cast<int64_t>(i), 1), call.inputs[i].shape());
  }
  return result;
}

// Between two steps of the axes before, each input is a run of contiguous elements.
void lower(LowerCall& call) {
  loop::Builder& b = call.b;
  const Shape& to = call.outputs[0].shape;
  const int rank = to.rank();
  const int along = call.call.axis(call.call.attrs_as<ConcatAttrs>().axis, rank);
  const loop::Value rows = call.size(count_between(to, 0, along)), stride = call.size(count_between(to, along, rank));
  const int32_t target = call.output(0);
  Dim before = 0;
  for (size_t i = 0; i < call.call.inputs.size(); ++i) {
    const Shape& from = call.call.shape(static_cast<int>(i));
    const Dim run = count_between(from, along, from.rank());
    const int32_t source = call.input(static_cast<int>(i));
    const loop::Value length = call.size(run), offset = call.size(before);
    for_each_block(b, rows, length, [&](loop::Value row, loop::Value begin, loop::Value end) {
      const loop::Value from_row = b.multiply(row, length), to_row = b.add(b.multiply(row, stride), offset);
      b.vector_for(begin, end, [&](loop::Value j) { b.store(target, b.add(to_row, j), b.load(source, b.add(from_row, j))); });
    });
    before = before + run;
  }
}

// Along one of the values' own axes; rows stay.
std::vector<Tensor> join_values(const RaggedCall& call, int axis) {
  CommonRows rows = common_rows(call);
  for (Tensor& operand : rows.operands) operand = operand.values();
  return {make_ragged(bind_all(call.op, rows.operands, ConcatAttrs{axis - 1})[0], rows.partition)};
}

std::vector<Tensor> concat_ragged(const RaggedCall& call) {
  std::vector<segment::Rows> parts;
  for (const Tensor& input : call.inputs) {
    if (!input.is_ragged() || input.rank() != call.inputs[0].rank())
      refuse(call, "dense and ragged parts, or ranks that differ", "ragged tensors of one rank");
    parts.push_back({input.values(), input.row_splits()});
  }
  const int axis = padded_axis(call, call.attrs.as<ConcatAttrs>().axis, call.inputs[0].rank());
  if (axis > 1) return join_values(call, axis);
  const Partition& first = *as_ragged(call.inputs[0])->partition;
  Dim rows = first.rows, total = first.total, shortest = first.shortest;
  std::optional<Dim> longest = first.longest;
  for (const Tensor& input : call.inputs.subspan(1)) {
    const Partition& next = *as_ragged(input)->partition;
    if (axis == 1 && proves_equal(rows, next.rows) == false) refuse(call, "numbers of rows differ", "as many rows in every part");
    rows = axis == 0 ? rows + next.rows : rows;
    total = total + next.total;
    shortest = axis == 0 ? min(shortest, next.shortest) : shortest + next.shortest;
    longest = axis == 0 && longest && next.longest ? std::optional(max(*longest, *next.longest)) : std::nullopt;
  }
  const segment::Rows joined = axis == 0 ? segment::concat(parts) : segment::concat_each_row(parts);
  return {make_ragged(joined.values, partition_of_result(joined.splits, rows, total, shortest, longest))};
}

std::vector<Tensor> stack_ragged(const RaggedCall& call) {
  const int rank = call.inputs[0].rank(), axis = padded_axis(call, call.attrs.as<ConcatAttrs>().axis, rank + 1);
  for (const Tensor& input : call.inputs) {
    if (!input.is_ragged() || input.rank() != rank)
      refuse(call, "dense and ragged parts, or ranks that differ", "ragged tensors of one rank");
  }
  if (axis < 2) refuse(call, "the new axis stands before the ragged one", "a place behind the ragged axis: a tensor has one ragged axis");
  return join_values(call, axis);
}

}  // namespace

constinit const OpDef concat_op{.name = "concat",
                                .kind = OpKind::Movement,
                                .inputs = -1,
                                .dtype = dtype_rule::promoted,
                                .shape = shape,
                                .ragged = RaggedPolicy::PerRow,
                                .ragged_rule = concat_ragged,
                                .gradient = gradient,
                                .lower = lower,
                                .attrs = [] { return Attrs(ConcatAttrs{}); }};

constinit const OpDef stack_op{.name = "stack",
                               .kind = OpKind::Movement,
                               .inputs = -1,
                               .dtype = dtype_rule::promoted,
                               .shape = stack_shape,
                               .ragged = RaggedPolicy::PerRow,
                               .ragged_rule = stack_ragged,
                               .gradient = stack_gradient,
                               .lower = lower,
                               .attrs = [] { return Attrs(ConcatAttrs{}); }};

Tensor concat(const std::vector<Tensor>& tensors, ConcatOptions options) {
  return bind_all(concat_op, tensors, ConcatAttrs{options.axis})[0];
}

Tensor stack(const std::vector<Tensor>& tensors, StackOptions options) { return bind_all(stack_op, tensors, ConcatAttrs{options.axis})[0]; }

}  // namespace anyshape
