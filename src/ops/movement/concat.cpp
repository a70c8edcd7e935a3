// concat: tensors that agree but along one axis -> one after the other along it. stack: equal shapes -> one after the other along a new axis.
#include "ops/movement/concat.h"
#include "graph/bind.h"
#include "graph/described_operands.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "loop/routines.h"
#include "ops/all_ops.h"
#include "ops/loops.h"
#include "ops/movement/slice.h"
#include "ops/ragged/partition.h"
#include "ops/ragged/rules.h"
#include "ops/sizes.h"
#include "ops/total.h"

#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

// Of many inputs, which one it is that does not fit.
std::string among_many(const OpCall& call, size_t input) {
  if (call.inputs.size() <= few_operands) return {};
  return fmt::format(" between tensors 0 and {} ({}, {})", input, to_string(call.inputs[0]), to_string(call.inputs[input]));
}

void require_rank_of_first(const OpCall& call, size_t input, std::string_view expected) {
  if (call.shape(static_cast<int>(input)).rank() == call.shape(0).rank()) return;
  call.fail("ranks differ" + among_many(call, input), expected);
}

// Texts are made only where they may be needed: thousands of inputs are joined at once.
void require_size_of_first(OpCall& call, size_t input, int axis, std::string_view expected) {
  const Dim &first = call.shape(0)[axis], &other = call.shape(static_cast<int>(input))[axis];
  if (first.same_as(other)) return;
  call.require({Relation::Equal, first, other}, fmt::format("sizes along axis {} differ{}", axis, among_many(call, input)), expected);
}

Specs shape(OpCall& call) {
  Shape result = call.shape(0);
  const int rank = result.rank();
  const int along = call.axis(call.attrs_as<ConcatAttrs>().axis, rank);
  const std::string expected = fmt::format("equal sizes along every axis but {}", along);
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    require_rank_of_first(call, i, "tensors of one rank");
    for (int axis = 0; axis < rank; ++axis) {
      if (axis != along) require_size_of_first(call, i, axis, expected);
    }
  }
  std::vector<Dim> sizes;
  for (const TensorSpec& input : call.inputs) sizes.push_back(input.shape[along]);
  result[along] = total_of(sizes);
  return {{call.inputs[0].dtype, std::move(result), {}}};
}

// Those parts of x that are needed. Many of symbolic sizes are cut out of halves: their begins would be as many sums of as many symbols.
void cut_apart(const Tensor& x, int along, std::span<const Dim> sizes, std::span<const bool> needed, std::span<Tensor> parts) {
  constexpr size_t most_begins = 32;
  if (std::ranges::none_of(needed, [](bool is) { return is; })) return;
  if (sizes.size() > most_begins && std::ranges::any_of(sizes, [](const Dim& size) { return !size.is_constant(); })) {
    const size_t half = sizes.size() / 2;
    const Dim middle = total_of(sizes.first(half)), rest = total_of(sizes.subspan(half));
    cut_apart(slice_along(x, along, 0, middle), along, sizes.first(half), needed.first(half), parts.first(half));
    cut_apart(slice_along(x, along, middle, rest), along, sizes.subspan(half), needed.subspan(half), parts.subspan(half));
    return;
  }
  Dim begin = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (needed[i]) parts[i] = slice_along(x, along, begin, sizes[i]);
    begin = begin + sizes[i];
  }
}

std::vector<Tensor> gradient(const GradientCall& call) {
  const Shape first = call.inputs[0].shape();
  const int64_t axis = call.attrs.as<ConcatAttrs>().axis;
  const int along = static_cast<int>(axis < 0 ? axis + first.rank() : axis);
  std::vector<Tensor> result(call.inputs.size());
  std::vector<Dim> sizes;
  for (const Tensor& input : call.inputs) sizes.push_back(input.shape()[along]);
  cut_apart(call.dys[0], along, sizes, call.needed, result);
  return result;
}

Specs stack_shape(OpCall& call) {
  const Shape& first = call.shape(0);
  if (first.rank() == max_rank)
    call.fail(fmt::format("the result would have rank {}", max_rank + 1), fmt::format("a result of at most rank {}", max_rank));
  const int along = call.axis(call.attrs_as<ConcatAttrs>().axis, first.rank() + 1);
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    require_rank_of_first(call, i, "tensors of one shape");
    for (int axis = 0; axis < first.rank(); ++axis) require_size_of_first(call, i, axis, "tensors of one shape");
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

// A loop for each of many inputs would take long to compile: a routine copies them, some at a time. Each time is a task of its own, since the
// compiler takes a square of the time for a function with many arguments to pass.
void lower_many(LowerCall& call, int along) {
  constexpr size_t inputs_at_once = 64;
  loop::Builder& b = call.b;
  const Shape& to = call.outputs[0].shape;
  const std::span<const TensorSpec> inputs = call.call.inputs;
  const loop::Value zero = b.integer(0), one = b.integer(1);
  const loop::Value rows = call.size(count_between(to, 0, along)), stride = call.size(count_between(to, along, to.rank()));
  loop::Value offset = zero;
  for (size_t first = 0; first < inputs.size(); first += inputs_at_once) {
    const size_t count = std::min(inputs_at_once, inputs.size() - first);
    std::vector<Dim> runs;
    for (const TensorSpec& input : inputs.subspan(first, count)) runs.push_back(count_between(input.shape, along, input.shape.rank()));
    b.each(zero, one, one, [&](loop::Value) {
      std::vector<loop::Builder::Argument> buffers{{call.output(0), offset}};
      std::vector<loop::Value> integers{b.integer(static_cast<int64_t>(count)), rows, stride, b.integer(size_of(call.outputs[0].dtype))};
      for (size_t i = 0; i < count; ++i) {
        buffers.push_back({call.input(static_cast<int>(first + i)), b.integer(0)});
        integers.push_back(call.size(runs[i]));
      }
      b.call(loop::routine::join_parts, buffers, integers);
    });
    offset = b.add(offset, call.size(total_of(runs)));
  }
}

// Between two indices of the axes before, each input is a run of contiguous elements.
void lower(LowerCall& call) {
  constexpr size_t most_loops = 16;
  loop::Builder& b = call.b;
  const Shape& to = call.outputs[0].shape;
  const int rank = to.rank();
  const int along = call.call.axis(call.call.attrs_as<ConcatAttrs>().axis, rank);
  if (call.call.inputs.size() > most_loops) return lower_many(call, along);
  const loop::Value rows = call.size(count_between(to, 0, along)), stride = call.size(count_between(to, along, rank));
  const int32_t target = call.output(0);
  Dim before = 0;
  for (size_t i = 0; i < call.call.inputs.size(); ++i) {
    const Shape& from = call.call.shape(static_cast<int>(i));
    const Dim run = count_between(from, along, from.rank());
    const int32_t source = call.input(static_cast<int>(i));
    const loop::Value length = call.size(run), offset = call.size(before);
    b.ranges(rows, length, b.integer(1), loop::Walk::Once, [&](loop::Value row, loop::Value begin, loop::Value end) {
      const loop::Value from_row = b.multiply(row, length), to_row = b.add(b.multiply(row, stride), offset);
      b.elements(begin, end, [&](loop::Value j) { b.store(target, b.add(to_row, j), b.load(source, b.add(from_row, j))); });
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
  std::vector<Dim> rows, totals, shortest, longest;
  for (const Tensor& input : call.inputs) {
    const Partition& part = *as_ragged(input)->partition;
    if (axis == 1 && !rows.empty() && proves_equal(rows[0], part.rows) == false)
      refuse(call, "numbers of rows differ", "as many rows in every part");
    rows.push_back(part.rows);
    totals.push_back(part.total);
    shortest.push_back(part.shortest);
    if (part.longest) longest.push_back(*part.longest);
  }
  const segment::Rows joined = axis == 0 ? segment::concat(parts) : segment::concat_each_row(parts);
  const LengthBounds bounds = bounds_of(shortest, longest);
  const bool is_bounded = axis == 0 && longest.size() == rows.size();
  return {make_ragged(joined.values,
                      partition_of_result(joined.splits, axis == 0 ? total_of(rows) : rows[0], total_of(totals),
                                          axis == 0 ? bounds.shortest : total_of(shortest), is_bounded ? bounds.longest : std::nullopt))};
}

std::vector<Tensor> stack_ragged(const RaggedCall& call) {
  const int rank = call.inputs[0].rank(), axis = padded_axis(call, call.attrs.as<ConcatAttrs>().axis, rank + 1);
  for (const Tensor& input : call.inputs) {
    if (!input.is_ragged() || input.rank() != rank)
      refuse(call, "dense and ragged parts, or ranks that differ", "ragged tensors of one rank");
  }
  if (axis < 2) refuse(call, "the new axis stands before the ragged one", "an axis behind the ragged one, of which a tensor has one");
  return join_values(call, axis);
}

int joined_axis(const Attrs& attrs, int rank) {
  const int64_t axis = attrs.as<ConcatAttrs>().axis;
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

// One after the other along an axis behind the first: else there were more rows than the parts have.
constexpr RowRule row_rule{.inputs = RowRule::Inputs::All};

}  // namespace

constinit const OpDef concat_op{
    .name = "concat",
    .kind = OpKind::Movement,
    .inputs = -1,
    .dtype = dtype_rule::promoted,
    .shape = shape,
    .ragged = RaggedPolicy::PerRow,
    .ragged_rule = concat_ragged,
    .gradient = gradient,
    .lower = lower,
    .rows = &row_rule,
    .attrs = [] { return Attrs(ConcatAttrs{}); },
    .traits = {.is_identity = [](const OpCall& call) { return call.inputs.size() == 1; }, .joined_axis = joined_axis}};

constinit const OpDef stack_op{.name = "stack",
                               .kind = OpKind::Movement,
                               .inputs = -1,
                               .dtype = dtype_rule::promoted,
                               .shape = stack_shape,
                               .ragged = RaggedPolicy::PerRow,
                               .ragged_rule = stack_ragged,
                               .gradient = stack_gradient,
                               .lower = lower,
                               .attrs = [] { return Attrs(ConcatAttrs{}); },
                               .traits = {.joined_axis = joined_axis}};

Tensor concat(const std::vector<Tensor>& tensors, ConcatOptions options) {
  return bind_all(concat_op, tensors, ConcatAttrs{options.axis})[0];
}

Tensor stack(const std::vector<Tensor>& tensors, StackOptions options) { return bind_all(stack_op, tensors, ConcatAttrs{options.axis})[0]; }

}  // namespace anyshape
