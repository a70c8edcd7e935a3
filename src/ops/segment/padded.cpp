// to_padded: values [total, ...], a number, row splits -> [rows, length, ...]; from_padded: the reverse. Each is the other's gradient.
#include "graph/bind.h"
#include "ops/all_ops.h"
#include "ops/segment/segments.h"
#include "ops/sizes.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

struct LengthAttrs {
  Dim length;
  template <class V>
  void visit(V& v) {
    v("length", length);
  }
};

void value_and_splits(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  dtype_rule::splits_last(op, inputs, wanted);
  wanted[1] = wanted[0];
}

Specs to_padded_shape(OpCall& call) {
  const Dim rows = require_splits(call), &length = call.attrs_as<LengthAttrs>().length;
  const Shape& values = require_values(call);
  if (call.shape(1).rank() != 0) call.fail("what fills up is no single number", "b of rank 0");
  if (values.rank() + 1 > max_rank) {
    call.fail(fmt::format("the result would have rank {}", values.rank() + 1), fmt::format("a result of at most rank {}", max_rank));
  }
  Shape result = {rows, length};
  for (int axis = 1; axis < values.rank(); ++axis) result.push_back(values[axis]);
  require_sizes(call, result);
  return {{call.inputs[0].dtype, std::move(result), {}}};
}

// A row is one stretch of memory on both sides, whatever an element is.
struct Stretch {
  loop::Value flat, padded;                 // where it begins
  loop::Value common, longest_flat, width;  // elements on both sides; all of the row; all of the padded row
};

void for_each_stretch(LowerCall& call, const Shape& values, const Dim& length, const std::function<void(const Stretch&)>& body) {
  loop::Builder& b = call.b;
  const loop::Value width = call.size(count_between(values, 1, values.rank())), padded = b.multiply(call.size(length), width);
  // Columns are not cut: one walk per row.
  SegmentLoop(call, {values[0]}).run([&](const Segment& segment) {
    const loop::Value flat = b.multiply(b.subtract(segment.end, segment.begin), width);
    body({b.multiply(segment.begin, width), b.multiply(segment.row, padded), b.minimum(flat, padded), flat, padded});
  });
}

void lower_to_padded(LowerCall& call) {
  loop::Builder& b = call.b;
  const int32_t x = call.input(0), value = call.input(1), y = call.output(0);
  for_each_stretch(call, call.call.shape(0), call.call.attrs_as<LengthAttrs>().length, [&](const Stretch& row) {
    const loop::Value filling = b.load(value, b.integer(0));
    b.elements(b.integer(0), row.common, [&](loop::Value i) { b.store(y, b.add(row.padded, i), b.load(x, b.add(row.flat, i))); });
    b.elements(row.common, row.width, [&](loop::Value i) { b.store(y, b.add(row.padded, i), filling); });
  });
}

std::vector<Tensor> to_padded_gradient(const GradientCall& call) {
  const Tensor kept = segment::from_padded(call.dys[0], call.inputs[2], call.inputs[0].shape()[0]);
  std::vector<Tensor> result(3);
  if (call.needed[0]) result[0] = kept;
  if (call.needed[1]) result[1] = sum(call.dys[0]) - sum(kept);
  return result;
}

Specs from_padded_shape(OpCall& call) {
  const Dim& total = call.attrs_as<TotalAttrs>().total;
  const Shape& padded = require_values(call);
  if (padded.rank() < 2) call.fail(fmt::format("the padded tensor has rank {}", padded.rank()), "padded [rows, length, ...]");
  call.require({Relation::Equal, padded[0], require_splits(call)}, "there is not one padded row per row", "a.shape[0] + 1 row splits");
  Shape result = {total};
  for (int axis = 2; axis < padded.rank(); ++axis) result.push_back(padded[axis]);
  require_sizes(call, result);
  return {{call.inputs[0].dtype, std::move(result), {}}};
}

void lower_from_padded(LowerCall& call) {
  loop::Builder& b = call.b;
  const Dtype type = call.outputs[0].dtype;
  const int32_t x = call.input(0), y = call.output(0);
  for_each_stretch(call, call.outputs[0].shape, call.call.shape(0)[1], [&](const Stretch& row) {
    b.elements(b.integer(0), row.common, [&](loop::Value i) { b.store(y, b.add(row.flat, i), b.load(x, b.add(row.padded, i))); });
    b.elements(row.common, row.longest_flat, [&](loop::Value i) { b.store(y, b.add(row.flat, i), b.constant(type, int64_t{0})); });
  });
}

std::vector<Tensor> from_padded_gradient(const GradientCall& call) {
  return {segment::to_padded(call.dys[0], call.inputs[1], call.inputs[0].shape()[1]), {}};
}

}  // namespace

constinit const OpDef to_padded_op{.name = "to_padded",
                                   .kind = OpKind::Movement,
                                   .inputs = 3,
                                   .dtype = value_and_splits,
                                   .shape = to_padded_shape,
                                   .gradient = to_padded_gradient,
                                   .lower = lower_to_padded,
                                   .attrs = [] { return Attrs(LengthAttrs{}); },
                                   .splits = splits_of_values};

constinit const OpDef from_padded_op{.name = "from_padded",
                                     .kind = OpKind::Movement,
                                     .inputs = 2,
                                     .dtype = dtype_rule::splits_last,
                                     .shape = from_padded_shape,
                                     .gradient = from_padded_gradient,
                                     .lower = lower_from_padded,
                                     .attrs = [] { return Attrs(TotalAttrs{}); },
                                     .splits = splits_of_total};

Tensor segment::to_padded(const Tensor& values, const Tensor& splits, const Dim& length, const PadOptions& options) {
  return bind(to_padded_op, {values, options.value, splits}, LengthAttrs{length});
}

Tensor segment::from_padded(const Tensor& padded, const Tensor& splits, const Dim& total) {
  return bind(from_padded_op, {padded, splits}, TotalAttrs{total});
}

}  // namespace anyshape
