// segment_sum, segment_prod, segment_max, segment_min, segment_any, segment_all: values [total, ...], row splits -> [rows, ...]. A row adds up
// to the bits that the same row gives in a dense tensor: 16 lanes along a single column, in order where columns stand in lanes.
#include "graph/bind.h"
#include "graph/named_call.h"
#include "loop/combine.h"
#include "ops/all_ops.h"
#include "ops/segment/segments.h"

#include <anyshape/ops.h>

#include <limits>

namespace anyshape {
namespace {

using loop::Combine;

Specs shape(OpCall& call) {
  const Dim rows = require_splits(call);
  return {{call.inputs[0].dtype, with_first(require_values(call), rows), {}}};
}

// The identity of max and min is infinite, so that elements which are that infinity stay; the answer for no element is finite.
loop::Value answer_for_nothing(loop::Builder& b, Combine combine, Dtype type) {
  const double last = type == Dtype::f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  if (!is_floating(type) || (combine != Combine::Maximum && combine != Combine::Minimum)) return loop::identity(b, combine, type);
  return b.constant(type, combine == Combine::Maximum ? -last : last);
}

template <Combine combine>
void lower(LowerCall& call) {
  loop::Builder& b = call.b;
  const Dtype type = call.outputs[0].dtype;
  const int32_t x = call.input(0), y = call.output(0);
  const SegmentLoop rows(call, call.call.shape(0));
  rows.run([&](const Segment& segment) {
    const auto answer = [&](loop::Value result) {
      return b.select(b.less(segment.begin, segment.end), result, answer_for_nothing(b, combine, type));
    };
    if (rows.is_flat()) {
      const loop::Value result =
          loop::reduce_in_parts(b, segment.begin, segment.end, combine, type, [&](loop::Value i) { return b.load(x, i); });
      return b.store(y, segment.row, answer(result));
    }
    b.elements(segment.first, segment.last, [&](loop::Value column) {
      const loop::Value result = loop::reduce_in_order(b, segment.begin, segment.end, combine, type,
                                                       [&](loop::Value i) { return b.load(x, rows.offset(i, column)); });
      b.store(y, rows.offset(segment.row, column), answer(result));
    });
  });
}

Tensor repeat_like(const Tensor& x, const GradientCall& call) { return segment::repeat(x, call.inputs[1], call.inputs[0].shape()[0]); }

std::vector<Tensor> sum_gradient(const GradientCall& call) { return {repeat_like(call.dys[0], call), {}}; }

// The product of all the others: what stands before an element times what stands behind it, so that no zero is ever divided by.
std::vector<Tensor> prod_gradient(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &splits = call.inputs[1];
  const Tensor others =
      segment::cumprod(x, splits, {.exclusive = true}) * segment::cumprod(x, splits, {.reverse = true, .exclusive = true});
  return {others * repeat_like(call.dys[0], call), {}};
}

// Equal extreme elements share the gradient equally.
std::vector<Tensor> extreme_gradient(const GradientCall& call) {
  const Tensor& x = call.inputs[0];
  const Tensor extreme = equal(x, repeat_like(call.outputs[0], call));
  const Tensor count = segment::sum(cast(extreme, x.dtype()), call.inputs[1]);
  return {where(extreme, repeat_like(call.dys[0] / count, call), 0), {}};
}

template <Combine combine>
constexpr OpDef reduce_op(std::string_view name, DtypeRule dtype, GradientRule gradient) {
  return {.name = name,
          .kind = OpKind::Reduce,
          .inputs = 2,
          .dtype = dtype,
          .shape = shape,
          .gradient = gradient,
          .lower = lower<combine>,
          .splits = splits_of_values,
          .traits = {.never_negative_zero = combine == Combine::Sum ? NeverNegativeZero::Always
                                                                    : NeverNegativeZero::Unknown}};  // begins with 0, and 0 + -0 is 0
}

}  // namespace

constinit const OpDef segment_sum_op = reduce_op<Combine::Sum>("segment_sum", dtype_rule::number_and_splits, sum_gradient);
constinit const OpDef segment_prod_op = reduce_op<Combine::Product>("segment_prod", dtype_rule::number_and_splits, prod_gradient);
constinit const OpDef segment_max_op = reduce_op<Combine::Maximum>("segment_max", dtype_rule::number_and_splits, extreme_gradient);
constinit const OpDef segment_min_op = reduce_op<Combine::Minimum>("segment_min", dtype_rule::number_and_splits, extreme_gradient);
constinit const OpDef segment_any_op = reduce_op<Combine::Any>("segment_any", dtype_rule::logical_and_splits, nullptr);
constinit const OpDef segment_all_op = reduce_op<Combine::All>("segment_all", dtype_rule::logical_and_splits, nullptr);

Tensor segment::sum(const Tensor& values, const Tensor& splits) { return bind(segment_sum_op, {values, splits}); }
Tensor segment::prod(const Tensor& values, const Tensor& splits) { return bind(segment_prod_op, {values, splits}); }
Tensor segment::max(const Tensor& values, const Tensor& splits) { return bind(segment_max_op, {values, splits}); }
Tensor segment::min(const Tensor& values, const Tensor& splits) { return bind(segment_min_op, {values, splits}); }
Tensor segment::any(const Tensor& values, const Tensor& splits) { return bind(segment_any_op, {values, splits}); }
Tensor segment::all(const Tensor& values, const Tensor& splits) { return bind(segment_all_op, {values, splits}); }

Tensor segment::mean(const Tensor& values, const Tensor& splits) {
  const NamedCall call("segment::mean", values, splits);
  const Tensor numbers = is_floating(values.dtype()) ? values : cast(values, Dtype::f32), total = sum(numbers, splits);
  Shape per_row = {total.shape()[0]};
  for (int axis = 1; axis < total.rank(); ++axis) per_row.push_back(1);
  return total / reshape(cast(row_lengths(splits), numbers.dtype()), per_row);
}

}  // namespace anyshape
