// segment_softmax, segment_log_softmax, segment_logsumexp: values [total, ...], row splits. One walk over the rows: a row stays in the cache
// between its maximum, its sum and its results.
#include "graph/bind.h"
#include "loop/combine.h"
#include "loop/math.h"
#include "ops/all_ops.h"
#include "ops/segment/segments.h"

#include <anyshape/ops.h>

#include <limits>

namespace anyshape {
namespace {

using loop::Combine;

enum class Wanted : uint8_t { Softmax, LogSoftmax, LogSumExp };

Specs reduced_shape(OpCall& call) {
  const Dim rows = require_splits(call);
  return {{call.inputs[0].dtype, with_first(require_values(call), rows), {}}};
}

// One column of a row, the way its parts of the loop are written: reduced in lanes, or each lane a column.
struct Column {
  std::function<loop::Value(Combine, const loop::Contribution&)> reduce;
  std::function<void(const std::function<void(loop::Value i)>&)> each;
  std::function<loop::Value(loop::Value i)> offset;
  loop::Value row;  // its offset in a result per row
};

// The shift by the greatest element cancels in the result. In logsumexp an infinite one would leave infinity - infinity: such a row is not
// shifted, and its sum is 0 or infinite by itself.
void lower_column(LowerCall& call, Wanted wanted, const Column& column) {
  loop::Builder& b = call.b;
  const Dtype type = call.outputs[0].dtype;
  const int32_t x = call.input(0), y = call.output(0);
  const auto at = [&](loop::Value i) { return b.load(x, column.offset(i)); };
  loop::Value greatest = column.reduce(Combine::Maximum, at);
  if (wanted == Wanted::LogSumExp) {
    const loop::Value infinity = b.constant(type, std::numeric_limits<double>::infinity());
    const loop::Value is_finite = b.less(b.unary(loop::Op::Absolute, greatest), infinity);
    greatest = b.select(is_finite, greatest, b.constant(type, int64_t{0}));
  }
  const auto power = [&](loop::Value i) {
    const loop::Value shifted = b.subtract(at(i), greatest);
    return wanted == Wanted::LogSumExp ? loop::exp(b, shifted) : loop::exp_at_most_zero(b, shifted);
  };
  if (wanted == Wanted::Softmax) {
    column.each([&](loop::Value i) { b.store(y, column.offset(i), power(i)); });
    const loop::Value sum = column.reduce(Combine::Sum, [&](loop::Value i) { return b.load(y, column.offset(i)); });
    const loop::Value share = b.divide(b.constant(type, 1.0), sum);  // as the softmax of dense rows does it
    return column.each([&](loop::Value i) { b.store(y, column.offset(i), b.multiply(b.load(y, column.offset(i)), share)); });
  }
  const loop::Value logarithm = loop::log(b, column.reduce(Combine::Sum, power));
  if (wanted == Wanted::LogSumExp) return b.store(y, column.row, b.add(logarithm, greatest));
  column.each([&](loop::Value i) { b.store(y, column.offset(i), b.subtract(b.subtract(at(i), greatest), logarithm)); });
}

template <Wanted wanted>
void lower(LowerCall& call) {
  loop::Builder& b = call.b;
  const Dtype type = call.outputs[0].dtype;
  const SegmentLoop rows(call, call.call.shape(0));
  rows.run([&](const Segment& segment) {
    const loop::Value begin = segment.begin, end = segment.end;
    if (rows.is_flat()) {
      return lower_column(
          call, wanted,
          {.reduce = [&](Combine combine, const auto& body) { return loop::reduce_in_parts(b, begin, end, combine, type, body); },
           .each = [&](const auto& body) { b.elements(begin, end, body); },
           .offset = [](loop::Value i) { return i; },
           .row = segment.row});
    }
    b.elements(segment.first, segment.last, [&](loop::Value lane) {
      lower_column(call, wanted,
                   {.reduce = [&](Combine combine, const auto& body) { return loop::reduce_in_order(b, begin, end, combine, type, body); },
                    .each = [&](const auto& body) { b.serial_for(begin, end, body); },
                    .offset = [&](loop::Value i) { return rows.offset(i, lane); },
                    .row = rows.offset(segment.row, lane)});
    });
  });
}

Tensor repeat_like(const Tensor& x, const GradientCall& call) { return segment::repeat(x, call.inputs[1], call.inputs[0].shape()[0]); }

std::vector<Tensor> softmax_gradient(const GradientCall& call) {
  const Tensor &y = call.outputs[0], &dy = call.dys[0];
  return {y * (dy - repeat_like(segment::sum(dy * y, call.inputs[1]), call)), {}};
}

std::vector<Tensor> log_softmax_gradient(const GradientCall& call) {
  const Tensor& dy = call.dys[0];
  return {dy - exp(call.outputs[0]) * repeat_like(segment::sum(dy, call.inputs[1]), call), {}};
}

std::vector<Tensor> logsumexp_gradient(const GradientCall& call) {
  return {exp(call.inputs[0] - repeat_like(call.outputs[0], call)) * repeat_like(call.dys[0], call), {}};
}

template <Wanted wanted>
constexpr OpDef softmax_op(std::string_view name, ShapeRule shape, GradientRule gradient) {
  return {.name = name,
          .kind = OpKind::Reduce,
          .inputs = 2,
          .dtype = dtype_rule::floating_and_splits,
          .shape = shape,
          .gradient = gradient,
          .lower = lower<wanted>,
          .splits = splits_of_values};
}

}  // namespace

constinit const OpDef segment_softmax_op = softmax_op<Wanted::Softmax>("segment_softmax", segment_wise_shape, softmax_gradient);
constinit const OpDef segment_log_softmax_op =
    softmax_op<Wanted::LogSoftmax>("segment_log_softmax", segment_wise_shape, log_softmax_gradient);
constinit const OpDef segment_logsumexp_op = softmax_op<Wanted::LogSumExp>("segment_logsumexp", reduced_shape, logsumexp_gradient);

Tensor segment::softmax(const Tensor& values, const Tensor& splits) { return bind(segment_softmax_op, {values, splits}); }
Tensor segment::log_softmax(const Tensor& values, const Tensor& splits) { return bind(segment_log_softmax_op, {values, splits}); }
Tensor segment::logsumexp(const Tensor& values, const Tensor& splits) { return bind(segment_logsumexp_op, {values, splits}); }

}  // namespace anyshape
