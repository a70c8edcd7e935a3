// segment_flip: values [total, ...], row splits -> each row from its end.
#include "graph/bind.h"
#include "ops/all_ops.h"
#include "ops/segment/segments.h"

#include <anyshape/ops.h>

namespace anyshape {
namespace {

void lower(LowerCall& call) {
  loop::Builder& b = call.b;
  const int32_t x = call.input(0), y = call.output(0);
  const SegmentLoop rows(call, call.call.shape(0));
  rows.run([&](const Segment& segment) {
    const loop::Value both_ends = b.subtract(b.add(segment.begin, segment.end), b.integer(1));
    if (rows.is_flat()) {
      return b.elements(segment.begin, segment.end, [&](loop::Value i) { b.store(y, i, b.load(x, b.subtract(both_ends, i))); });
    }
    b.serial_for(segment.begin, segment.end, [&](loop::Value i) {
      b.elements(segment.first, segment.last,
                 [&](loop::Value column) { b.store(y, rows.offset(i, column), b.load(x, rows.offset(b.subtract(both_ends, i), column))); });
    });
  });
}

std::vector<Tensor> gradient(const GradientCall& call) { return {segment::flip(call.dys[0], call.inputs[1]), {}}; }

}  // namespace

constinit const OpDef segment_flip_op{.name = "segment_flip",
                                      .kind = OpKind::Movement,
                                      .inputs = 2,
                                      .dtype = dtype_rule::splits_last,
                                      .shape = segment_wise_shape,
                                      .gradient = gradient,
                                      .lower = lower,
                                      .splits = splits_of_values};

Tensor segment::flip(const Tensor& values, const Tensor& splits) { return bind(segment_flip_op, {values, splits}); }

}  // namespace anyshape
