// take: x, indices -> slices of x along an axis, one per index; and its gradient, which adds them up where they came from. The first
// `batch_dims` axes of both are walked together.
#include "ops/index/take.h"
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/index/along_axis.h"
#include "ops/loops.h"
#include "ops/ragged/rules.h"
#include "ops/sizes.h"

#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

IndexRule take_indices(const OpCall& call) {
  const TakeAttrs& attrs = call.attrs_as<TakeAttrs>();
  return {{call.shape(0)[static_cast<int>(attrs.axis)]}, attrs.from_end};
}

Specs take_shape(OpCall& call) {
  const Shape &x = call.shape(0), &indices = call.shape(1);
  const TakeAttrs& attrs = call.attrs_as<TakeAttrs>();
  const int along = call.axis(attrs.axis, x.rank());
  if (attrs.batch_dims < 0 || attrs.batch_dims > along || attrs.batch_dims > indices.rank()) {
    call.fail(fmt::format("batch_dims is {} and axis {}", attrs.batch_dims, along),
              "0 <= batch_dims <= axis, and no more than the indices have");
  }
  const int batch = static_cast<int>(attrs.batch_dims), rank = x.rank() - 1 + indices.rank() - batch;
  if (rank > max_rank) call.fail(fmt::format("the result would have rank {}", rank), fmt::format("a result of at most rank {}", max_rank));
  for (int axis = 0; axis < batch; ++axis) {
    call.require({Relation::Equal, x[axis], indices[axis]}, "batch sizes differ", "the first batch_dims sizes of a and b equal");
  }
  Shape result;
  for (int axis = 0; axis < along; ++axis) result.push_back(x[axis]);
  for (int axis = batch; axis < indices.rank(); ++axis) result.push_back(indices[axis]);
  for (int axis = along + 1; axis < x.rank(); ++axis) result.push_back(x[axis]);
  return {{call.inputs[0].dtype, std::move(result), {}}};
}

loop::Value take_element(ElementCall& call) {
  const TakeAttrs& attrs = call.call.attrs_as<TakeAttrs>();
  const int along = call.call.axis(attrs.axis, call.call.shape(0).rank());
  const auto count = static_cast<std::ptrdiff_t>(call.call.shape(1).rank() - attrs.batch_dims);
  const auto begin = call.index.begin();
  std::vector<loop::Value> at(begin, begin + attrs.batch_dims);
  at.insert(at.end(), begin + along, begin + along + count);
  std::vector<loop::Value> index(begin, begin + along);
  index.push_back(wrapped_index(call.b, call.input(1, at), call.size(call.call.shape(0)[along])));
  index.insert(index.end(), begin + along + count, call.index.end());
  return call.input(0, index);
}

IndexRule take_gradient_indices(const OpCall& call) {
  const TakeGradientAttrs& attrs = call.attrs_as<TakeGradientAttrs>();
  return {{attrs.shape[static_cast<int>(attrs.axis)]}, attrs.from_end};
}

std::vector<Tensor> take_gradient(const GradientCall& call) {
  const TakeAttrs& attrs = call.attrs.as<TakeAttrs>();
  return {bind(take_gradient_op, {call.dys[0], call.inputs[1]},
               TakeGradientAttrs{attrs.axis, attrs.batch_dims, attrs.from_end, call.inputs[0].shape()}),
          {}};
}

Specs take_gradient_shape(OpCall& call) {
  const TakeGradientAttrs& attrs = call.attrs_as<TakeGradientAttrs>();
  const Shape &dy = call.shape(0), &indices = call.shape(1), &to = attrs.shape;
  const int along = call.axis(attrs.axis, to.rank());
  constexpr std::string_view rule = "the shape that take gives";
  const auto what = [&] { return fmt::format("cannot be added up in {}", to_string(to)); };
  if (attrs.batch_dims < 0 || attrs.batch_dims > along || attrs.batch_dims > indices.rank()) call.fail(what(), rule);
  const int batch = static_cast<int>(attrs.batch_dims), own = indices.rank() - batch;
  if (dy.rank() != to.rank() - 1 + own) call.fail(what(), rule);
  if (call.inputs[0].dtype == Dtype::b8) call.fail_dtype("truth values do not add up", "numbers");
  const auto require_same = [&](const Dim& a, const Dim& b) {
    if (!a.same_as(b)) call.require({Relation::Equal, a, b}, what(), rule);
  };
  for (int axis = 0; axis < batch; ++axis) require_same(indices[axis], to[axis]);
  for (int axis = 0; axis < along; ++axis) require_same(dy[axis], to[axis]);
  for (int axis = 0; axis < own; ++axis) require_same(dy[along + axis], indices[batch + axis]);
  for (int axis = along + 1; axis < to.rank(); ++axis) require_same(dy[axis - 1 + own], to[axis]);
  require_sizes(call, to);
  return {{call.inputs[0].dtype, attrs.shape, {}}};
}

std::vector<Tensor> gradient_of_take_gradient(const GradientCall& call) {
  const TakeGradientAttrs& attrs = call.attrs.as<TakeGradientAttrs>();
  return {take(call.dys[0], call.inputs[1], {.axis = attrs.axis, .batch_dims = attrs.batch_dims, .from_end = attrs.from_end}), {}};
}

void lower_take_gradient(LowerCall& call) {
  loop::Builder& b = call.b;
  const TakeGradientAttrs& attrs = call.call.attrs_as<TakeGradientAttrs>();
  const Shape& to = attrs.shape;
  const int along = call.call.axis(attrs.axis, to.rank()), batch = static_cast<int>(attrs.batch_dims);
  const Dim count = count_between(call.call.shape(1), batch, call.call.shape(1).rank());
  const loop::Value rows_per_batch = call.size(count_between(to, batch, along)), indices_per_batch = call.size(count);
  const int32_t indices = call.input(1);
  add_along_axis(call, to, along, count, IndexPer::Row, [&](loop::Value row, loop::Value k, loop::Value) {
    const loop::Value at = batch == 0 ? k : b.add(b.multiply(b.floor_divide(row, rows_per_batch), indices_per_batch), k);
    return b.load(indices, at);
  });
}

// Rows by their numbers.
Tensor take_rows(const Tensor& x, const Tensor& indices) {
  const auto& [values, partition] = *as_ragged(x);
  const Tensor lengths = take(segment::row_lengths(partition->splits), indices);
  const Dim total = sum_of("take", lengths, "Inside one, take rows of the padded tensor: take(to_padded(x, {.length = n}), indices).");
  const segment::Rows taken = segment::gather_rows({values, partition->splits}, indices, total);
  return make_ragged(taken.values, partition_of_result(taken.splits, indices.shape()[0], total, partition->shortest));
}

// Elements of each row by their positions in it, as many in every row; a position outside its row leads outside the values.
Tensor take_in_rows(const Tensor& x, const Tensor& indices) {
  const auto& [values, partition] = *as_ragged(x);
  Shape per_row{partition->rows};
  while (per_row.rank() < indices.rank()) per_row.push_back(1);
  const Tensor starts = reshape(segment::row_starts(partition->splits), per_row);
  const Tensor lengths = reshape(segment::row_lengths(partition->splits), per_row);
  const Tensor position = cast(indices, Dtype::i64), from_start = where(position < 0, position + lengths, position);
  const Tensor inside = logical_and(0 <= from_start, from_start < lengths);
  return take(values, where(inside, starts + from_start, size(values, 0)));
}

std::vector<Tensor> take_ragged(const RaggedCall& call) {
  const Tensor &x = call.inputs[0], &indices = call.inputs[1];
  const TakeAttrs& attrs = call.attrs.as<TakeAttrs>();
  const int axis = padded_axis(call, attrs.axis, x.rank());
  if (!x.is_ragged() && axis == 0) {
    return {on_values(indices, [&](const Tensor& dense) { return bind(call.op, {x, dense}, call.attrs); })};
  }
  if (x.is_ragged() && !indices.is_ragged()) {
    if (axis == 0 && indices.rank() == 1) return {take_rows(x, indices)};
    if (axis == 1 && attrs.batch_dims == 1 && indices.rank() >= 1) return {take_in_rows(x, indices)};
    if (axis > 1 && attrs.batch_dims == 0) {
      return {on_values(x, [&](const Tensor& values) { return bind(call.op, {values, indices}, TakeAttrs{axis - 1, 0, attrs.from_end}); })};
    }
  }
  refuse(call, fmt::format("axis {} and batch_dims {}", axis, attrs.batch_dims),
         "a vector of rows (axis 0), positions in each row (axis 1, batch_dims 1), an axis behind the ragged one, or ragged indices into "
         "axis 0 "
         "of a dense tensor");
}

}  // namespace

constinit const OpDef take_op{.name = "take",
                              .kind = OpKind::Index,
                              .inputs = 2,
                              .dtype = dtype_rule::indices_last,
                              .shape = take_shape,
                              .ragged = RaggedPolicy::PerRow,
                              .ragged_rule = take_ragged,
                              .gradient = take_gradient,
                              .element = take_element,
                              .whole_inputs = 0b11,
                              .attrs = [] { return Attrs(TakeAttrs{}); },
                              .index_rule = take_indices};

constinit const OpDef take_gradient_op{.name = "take_gradient",
                                       .kind = OpKind::Index,
                                       .inputs = 2,
                                       .dtype = dtype_rule::indices_last,
                                       .shape = take_gradient_shape,
                                       .gradient = gradient_of_take_gradient,
                                       .lower = lower_take_gradient,
                                       .whole_inputs = 0b11,
                                       .attrs = [] { return Attrs(TakeGradientAttrs{}); },
                                       .index_rule = take_gradient_indices,
                                       .traits = {.never_negative_zero = NeverNegativeZero::Always}};  // begins with 0, and 0 + -0 is 0

Tensor take(const Tensor& x, const Tensor& indices, TakeOptions options) {
  return bind(take_op, {x, indices}, TakeAttrs{options.axis, options.batch_dims, options.from_end});
}

}  // namespace anyshape
