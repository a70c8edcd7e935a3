// cumsum, cumprod: x -> sums or products of what stands before each element along an axis, itself included or not; and the recurrence in
// which the derivatives of products are written. Along the axis one element follows the other; what lies beside it runs side by side.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/loops.h"
#include "ops/ragged/rules.h"
#include "ops/reduce/indicator.h"
#include "ops/reduce/walk.h"
#include "ops/sizes.h"

#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>

namespace anyshape {
namespace {

struct CumulateAttrs {
  int64_t axis = 0;
  bool reverse = false;
  bool exclusive = false;
  template <class V>
  void visit(V& v) {
    v("axis", axis);
    v("reverse", reverse);
    v("exclusive", exclusive);
  }
};

struct RecurrenceAttrs {
  int64_t axis = 0;
  bool reverse = false;
  template <class V>
  void visit(V& v) {
    v("axis", axis);
    v("reverse", reverse);
  }
};

// Rows along the axis are independent of each other, and the columns beside it.
void lower_walk(LowerCall& call, int axis, const Walk& walk) {
  loop::Builder& b = call.b;
  const Shape& shape = call.call.shape(0);
  const Dim inner = count_between(shape, axis + 1, shape.rank());
  const loop::Value rows = call.size(count_between(shape, 0, axis)), length = call.size(shape[axis]), width = call.size(inner);
  if (inner.same_as(1)) {
    return b.each(b.integer(0), rows, length, [&](loop::Value row) {
      const loop::Value begin = b.multiply(row, length);
      walk_row(call, walk, begin, b.add(begin, length));
    });
  }
  b.ranges(rows, width, length, loop::Walk::Lines, [&](loop::Value row, loop::Value first, loop::Value last) {
    const loop::Value begin = b.multiply(row, length);
    walk_columns(call, walk, {begin, b.add(begin, length), width, first, last});
  });
}

template <loop::Op combine>
void lower_cumulate(LowerCall& call) {
  const CumulateAttrs& attrs = call.call.attrs_as<CumulateAttrs>();
  lower_walk(call, call.call.axis(attrs.axis, call.call.shape(0).rank()), cumulate_walk(call, combine, attrs.reverse, attrs.exclusive));
}

Specs cumulate_shape(OpCall& call) {
  static_cast<void>(call.axis(call.attrs_as<CumulateAttrs>().axis, call.shape(0).rank()));
  return {call.inputs[0]};
}

std::vector<Tensor> cumsum_gradient(const GradientCall& call) {
  const CumulateAttrs& attrs = call.attrs.as<CumulateAttrs>();
  return {cumsum(call.dys[0], {.axis = attrs.axis, .reverse = !attrs.reverse, .exclusive = attrs.exclusive})};
}

Tensor linear_recurrence(const Tensor& a, const Tensor& b, int64_t axis, bool reverse) {
  return bind(linear_recurrence_op, {a, b}, RecurrenceAttrs{axis, reverse});
}

// Element i stands in every product from its own index on (exclusive: from the next one). What precedes it is a factor of all of them; the
// rest, a sum of products that each continue the one before, is a recurrence walked from the other end. Nothing is divided, so zeros do
// no harm.
std::vector<Tensor> cumprod_gradient(const GradientCall& call) {
  const CumulateAttrs& attrs = call.attrs.as<CumulateAttrs>();
  const Tensor &x = call.inputs[0], &dy = call.dys[0];
  const Tensor preceding = cumprod(x, {.axis = attrs.axis, .reverse = attrs.reverse, .exclusive = true});
  if (attrs.exclusive) return {preceding * linear_recurrence(x, dy, attrs.axis, !attrs.reverse)};
  return {preceding * (dy + linear_recurrence(x, x * dy, attrs.axis, !attrs.reverse))};
}

Specs recurrence_shape(OpCall& call) {
  const int axis = call.axis(call.attrs_as<RecurrenceAttrs>().axis, call.shape(0).rank());
  constexpr std::string_view what = "shapes differ", rule = "two tensors of one shape";
  if (call.shape(1).rank() != call.shape(0).rank()) call.fail(what, rule);
  for (int each = 0; each < call.shape(0).rank(); ++each) {
    call.require({Relation::Equal, call.shape(0)[each], call.shape(1)[each]}, what, rule);
  }
  static_cast<void>(axis);
  return {call.inputs[0]};
}

void lower_recurrence(LowerCall& call) {
  const RecurrenceAttrs& attrs = call.call.attrs_as<RecurrenceAttrs>();
  lower_walk(call, call.call.axis(attrs.axis, call.call.shape(0).rank()), recurrence_walk(call, attrs.reverse));
}

// The adjoint is the same recurrence from the other end.
std::vector<Tensor> recurrence_gradient(const GradientCall& call) {
  const RecurrenceAttrs& attrs = call.attrs.as<RecurrenceAttrs>();
  const Tensor adjoint = linear_recurrence(call.inputs[0], call.dys[0], attrs.axis, !attrs.reverse);
  std::vector<Tensor> result(2);
  if (call.needed[0]) result[0] = adjoint * call.outputs[0];
  if (call.needed[1]) result[1] = adjoint;
  return result;
}

template <Tensor (*of_rows)(const Tensor& values, const Tensor& splits, segment::CumulateOptions options)>
std::vector<Tensor> ragged(const RaggedCall& call) {
  const CumulateAttrs& attrs = call.attrs.as<CumulateAttrs>();
  const auto& [values, partition] = *as_ragged(call.inputs[0]);
  const int axis = padded_axis(call, attrs.axis, call.inputs[0].rank());
  if (axis == 0) refuse(call, "the axis is that of the rows", "the ragged axis or one behind it");
  const Tensor result = axis == 1 ? of_rows(values, partition->splits, {.reverse = attrs.reverse, .exclusive = attrs.exclusive})
                                  : bind(call.op, {values}, CumulateAttrs{axis - 1, attrs.reverse, attrs.exclusive});
  return {make_ragged(result, partition)};
}

constexpr OpDef cumulate_op(std::string_view name, GradientRule gradient, LowerRule lower, RaggedRule ragged_rule) {
  return {.name = name,
          .kind = OpKind::Reduce,
          .inputs = 1,
          .dtype = dtype_rule::promoted_number,
          .shape = cumulate_shape,
          .ragged = RaggedPolicy::PerRow,
          .ragged_rule = ragged_rule,
          .gradient = gradient,
          .lower = lower,
          .attrs = [] { return Attrs(CumulateAttrs{}); }};
}

CumulateAttrs cumulate_attrs(const Tensor& x, const CumulateOptions& options) {
  const int64_t rank = x.rank(), axis = options.axis;
  return {axis < 0 && axis >= -rank ? axis + rank : axis, options.reverse, options.exclusive};
}

}  // namespace

constinit const OpDef cumsum_op = cumulate_op("cumsum", cumsum_gradient, lower_cumulate<loop::Op::Add>, ragged<segment::cumsum>);
constinit const OpDef cumprod_op = cumulate_op("cumprod", cumprod_gradient, lower_cumulate<loop::Op::Multiply>, ragged<segment::cumprod>);

// a, b -> s with s[0] = 0 and s[i + 1] = a[i] * s[i] + b[i] along the axis.
constinit const OpDef linear_recurrence_op{.name = "linear_recurrence",
                                           .kind = OpKind::Reduce,
                                           .inputs = 2,
                                           .dtype = dtype_rule::promoted_number,
                                           .shape = recurrence_shape,
                                           .gradient = recurrence_gradient,
                                           .lower = lower_recurrence,
                                           .attrs = [] { return Attrs(RecurrenceAttrs{}); }};

Tensor cumsum(const Tensor& x, CumulateOptions options) {
  const NamedCall call("cumsum", x);
  const CumulateAttrs attrs = cumulate_attrs(x, options);
  return bind(cumsum_op, {addable(x, {&attrs.axis, 1})}, attrs);
}
Tensor cumprod(const Tensor& x, CumulateOptions options) {
  const NamedCall call("cumprod", x);
  return bind(cumprod_op, {x}, cumulate_attrs(x, options));
}

}  // namespace anyshape
