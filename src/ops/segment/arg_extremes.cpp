// segment_argmax, segment_argmin: values [total, ...], row splits without empty rows -> the position of the greatest or least element in its row,
// as i32.
#include "graph/bind.h"
#include "ops/all_ops.h"
#include "ops/reduce/best.h"
#include "ops/segment/segments.h"

#include <anyshape/ops.h>

#include <limits>

namespace anyshape {
namespace {

Specs shape(OpCall& call) {
  const Dim rows = require_splits(call);
  const Shape& values = require_values(call);
  call.require({Relation::LessEqual, values[0], std::numeric_limits<int32_t>::max()}, "there are too many values for i32 positions",
               "at most 2147483647 values");
  return {{Dtype::i32, with_first(values, rows), {}}};
}

template <loop::Combine combine>
void lower(LowerCall& call) {
  loop::Builder& b = call.b;
  const int32_t x = call.input(0), y = call.output(0);
  const SegmentLoop rows(call, call.call.shape(0));
  rows.run([&](const Segment& segment) {
    if (rows.is_flat()) {
      const Best best = best_of(
          b, combine, segment.begin, segment.end, [&](loop::Value i) { return b.load(x, i); },
          [&](loop::Value i) { return b.subtract(i, segment.begin); });
      return b.store(y, segment.row, b.cast(best.index, Dtype::i32));
    }
    b.elements(segment.first, segment.last, [&](loop::Value column) {
      const loop::Value index =
          best_in_order(b, combine, segment.begin, segment.end, [&](loop::Value i) { return b.load(x, rows.offset(i, column)); });
      b.store(y, rows.offset(segment.row, column), index);
    });
  });
}

template <loop::Combine combine>
constexpr OpDef arg_extreme_op(std::string_view name) {
  return {.name = name,
          .kind = OpKind::Reduce,
          .inputs = 2,
          .dtype = dtype_rule::number_and_splits,
          .shape = shape,
          .lower = lower<combine>,
          .splits = [](const OpCall& call) { return SplitsRule{.total = call.shape(0)[0], .empty_rows = false}; }};
}

}  // namespace

constinit const OpDef segment_argmax_op = arg_extreme_op<loop::Combine::Maximum>("segment_argmax");
constinit const OpDef segment_argmin_op = arg_extreme_op<loop::Combine::Minimum>("segment_argmin");

Tensor segment::argmax(const Tensor& values, const Tensor& splits) { return bind(segment_argmax_op, {values, splits}); }
Tensor segment::argmin(const Tensor& values, const Tensor& splits) { return bind(segment_argmin_op, {values, splits}); }

}  // namespace anyshape
