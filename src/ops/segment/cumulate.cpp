// segment_cumsum, segment_cumprod: values [total, ...], row splits -> sums or products of what stands before each element of its row, itself
// included or not; and the recurrence in which the derivatives of products are written.
#include "graph/bind.h"
#include "ops/all_ops.h"
#include "ops/reduce/walk.h"
#include "ops/segment/segments.h"

#include <anyshape/ops.h>

namespace anyshape {
namespace {

struct CumulateAttrs {
  bool reverse = false;
  bool exclusive = false;
  template <class V>
  void visit(V& v) {
    v("reverse", reverse);
    v("exclusive", exclusive);
  }
};

struct RecurrenceAttrs {
  bool reverse = false;
  template <class V>
  void visit(V& v) {
    v("reverse", reverse);
  }
};

void lower_walk(LowerCall& call, const Walk& walk) {
  const SegmentLoop rows(call, call.call.shape(0));
  rows.run([&](const Segment& segment) {
    if (rows.is_flat()) return walk_row(call, walk, segment.begin, segment.end);
    walk_columns(call, walk, {segment.begin, segment.end, rows.width(), segment.first, segment.last});
  });
}

template <loop::Op combine>
void lower_cumulate(LowerCall& call) {
  const CumulateAttrs& attrs = call.call.attrs_as<CumulateAttrs>();
  lower_walk(call, cumulate_walk(call, combine, attrs.reverse, attrs.exclusive));
}

std::vector<Tensor> cumsum_gradient(const GradientCall& call) {
  const CumulateAttrs& attrs = call.attrs.as<CumulateAttrs>();
  return {segment::cumsum(call.dys[0], call.inputs[1], {.reverse = !attrs.reverse, .exclusive = attrs.exclusive}), {}};
}

Tensor recurrence(const Tensor& a, const Tensor& b, const Tensor& splits, bool reverse) {
  return bind(segment_recurrence_op, {a, b, splits}, RecurrenceAttrs{reverse});
}

// As for dense products: what precedes an element is a factor of all the products it stands in, the rest a recurrence from the other end.
std::vector<Tensor> cumprod_gradient(const GradientCall& call) {
  const CumulateAttrs& attrs = call.attrs.as<CumulateAttrs>();
  const Tensor &x = call.inputs[0], &splits = call.inputs[1], &dy = call.dys[0];
  const Tensor preceding = segment::cumprod(x, splits, {.reverse = attrs.reverse, .exclusive = true});
  if (attrs.exclusive) return {preceding * recurrence(x, dy, splits, !attrs.reverse), {}};
  return {preceding * (dy + recurrence(x, x * dy, splits, !attrs.reverse)), {}};
}

Specs recurrence_shape(OpCall& call) {
  constexpr std::string_view what = "shapes differ", rule = "two tensors of one shape";
  if (call.shape(1).rank() != call.shape(0).rank()) call.fail(what, rule);
  for (int axis = 0; axis < call.shape(0).rank(); ++axis) {
    call.require({Relation::Equal, call.shape(0)[axis], call.shape(1)[axis]}, what, rule);
  }
  return segment_wise_shape(call);
}

void lower_recurrence(LowerCall& call) { lower_walk(call, recurrence_walk(call, call.call.attrs_as<RecurrenceAttrs>().reverse)); }

// The adjoint is the same recurrence from the other end.
std::vector<Tensor> recurrence_gradient(const GradientCall& call) {
  const Tensor adjoint = recurrence(call.inputs[0], call.dys[0], call.inputs[2], !call.attrs.as<RecurrenceAttrs>().reverse);
  std::vector<Tensor> result(3);
  if (call.needed[0]) result[0] = adjoint * call.outputs[0];
  if (call.needed[1]) result[1] = adjoint;
  return result;
}

void numbers_and_splits(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  dtype_rule::number_and_splits(op, inputs, wanted);
  wanted[1] = wanted[0];
}

constexpr OpDef cumulate_op(std::string_view name, GradientRule gradient, LowerRule lower) {
  return {.name = name,
          .kind = OpKind::Reduce,
          .inputs = 2,
          .dtype = dtype_rule::number_and_splits,
          .shape = segment_wise_shape,
          .gradient = gradient,
          .lower = lower,
          .attrs = [] { return Attrs(CumulateAttrs{}); },
          .splits = splits_of_values};
}

}  // namespace

constinit const OpDef segment_cumsum_op = cumulate_op("segment_cumsum", cumsum_gradient, lower_cumulate<loop::Op::Add>);
constinit const OpDef segment_cumprod_op = cumulate_op("segment_cumprod", cumprod_gradient, lower_cumulate<loop::Op::Multiply>);

// a, b, splits -> s with s[0] = 0 and s[i + 1] = a[i] * s[i] + b[i] along each row.
constinit const OpDef segment_recurrence_op{.name = "segment_recurrence",
                                            .kind = OpKind::Reduce,
                                            .inputs = 3,
                                            .dtype = numbers_and_splits,
                                            .shape = recurrence_shape,
                                            .gradient = recurrence_gradient,
                                            .lower = lower_recurrence,
                                            .attrs = [] { return Attrs(RecurrenceAttrs{}); },
                                            .splits = splits_of_values};

Tensor segment::cumsum(const Tensor& values, const Tensor& splits, CumulateOptions options) {
  return bind(segment_cumsum_op, {values, splits}, CumulateAttrs{options.reverse, options.exclusive});
}
Tensor segment::cumprod(const Tensor& values, const Tensor& splits, CumulateOptions options) {
  return bind(segment_cumprod_op, {values, splits}, CumulateAttrs{options.reverse, options.exclusive});
}

}  // namespace anyshape
