// cumsum, cumprod: x -> sums or products of what stands before each element along an axis, itself included or not; and the recurrence in
// which the derivatives of products are written. Along the axis one step follows the other; what lies beside it runs side by side.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/loops.h"
#include "ops/sizes.h"

#include <anyshape/ops.h>

#include <functional>

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

// A walk along an axis: the first element by its place, every further one from the result before it.
struct Walk {
  int axis;
  bool reverse;
  std::function<loop::Value(loop::Value place)> first;
  std::function<loop::Value(loop::Value previous, loop::Value before, loop::Value place)> next;
};

// Rows that lie in memory as they are walked: the result before stays in a register.
void lower_rows(LowerCall& call, const Walk& walk, loop::Value rows, loop::Value length) {
  loop::Builder& b = call.b;
  const int32_t y = call.output(0);
  const loop::Value one = b.integer(1), zero = b.integer(0);
  const loop::Value grain = b.maximum(one, b.floor_divide(b.integer(16384), b.maximum(length, one)));
  b.parallel_for(zero, rows, grain, [&](loop::Value row) {
    b.if_(b.less(zero, length), [&] {
      const loop::Value start = b.multiply(row, length), last = b.subtract(b.add(start, length), one);
      const loop::Value begin = walk.reverse ? last : start;
      const loop::Value initial[] = {walk.first(begin)};
      b.store(y, begin, initial[0]);
      b.carry_for(one, length, initial, [&](loop::Value i, std::span<const loop::Value> carried) -> std::vector<loop::Value> {
        const loop::Value place = walk.reverse ? b.subtract(last, i) : b.add(start, i);
        const loop::Value result = walk.next(carried[0], walk.reverse ? b.add(place, one) : b.subtract(place, one), place);
        b.store(y, place, result);
        return {result};
      });
    });
  });
}

// Elements beside the axis in vector lanes: each step reads the results of the one before, which the cache still holds.
void lower_columns(LowerCall& call, const Walk& walk, loop::Value rows, loop::Value length, loop::Value inner) {
  constexpr int64_t columns_per_task = 512;
  loop::Builder& b = call.b;
  const int32_t y = call.output(0);
  const loop::Value one = b.integer(1), zero = b.integer(0);
  const loop::Value blocks = b.ceil_divide(inner, columns_per_task);
  const loop::Value each = b.multiply(b.minimum(inner, b.integer(columns_per_task)), length);
  const loop::Value grain = b.maximum(one, b.floor_divide(b.integer(16384), b.maximum(each, one)));
  b.parallel_for(zero, b.multiply(rows, blocks), grain, [&](loop::Value task) {
    const loop::Value start = b.multiply(b.floor_divide(task, blocks), b.multiply(length, inner));
    const loop::Value begin = b.multiply(modulo(b, task, blocks), b.integer(columns_per_task));
    const loop::Value end = b.minimum(b.add(begin, b.integer(columns_per_task)), inner);
    const auto line = [&](loop::Value i) {
      return b.add(start, b.multiply(walk.reverse ? b.subtract(b.subtract(length, one), i) : i, inner));
    };
    b.if_(b.less(zero, length), [&] {
      b.vector_for(begin, end, [&](loop::Value column) {
        const loop::Value place = b.add(line(zero), column);
        b.store(y, place, walk.first(place));
      });
      b.serial_for(one, length, [&](loop::Value i) {
        b.vector_for(begin, end, [&](loop::Value column) {
          const loop::Value before = b.add(line(b.subtract(i, one)), column), place = b.add(line(i), column);
          b.store(y, place, walk.next(b.load(y, before), before, place));
        });
      });
    });
  });
}

void lower_walk(LowerCall& call, const Walk& walk) {
  const Shape& shape = call.call.shape(0);
  const Dim inner = count_between(shape, walk.axis + 1, shape.rank());
  const loop::Value rows = call.size(count_between(shape, 0, walk.axis)), length = call.size(shape[walk.axis]);
  if (inner.same_as(1)) return lower_rows(call, walk, rows, length);
  lower_columns(call, walk, rows, length, call.size(inner));
}

template <loop::Op combine, int64_t of_nothing>
void lower_cumulate(LowerCall& call) {
  const CumulateAttrs& attrs = call.call.attrs_as<CumulateAttrs>();
  loop::Builder& b = call.b;
  const int32_t x = call.input(0);
  lower_walk(call, {static_cast<int>(attrs.axis), attrs.reverse,
                    [&](loop::Value place) { return attrs.exclusive ? b.constant(call.outputs[0].dtype, of_nothing) : b.load(x, place); },
                    [&](loop::Value previous, loop::Value before, loop::Value place) {
                      return b.binary(combine, previous, b.load(x, attrs.exclusive ? before : place));
                    }});
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

// Element i stands in every product from its own place on (exclusive: from the next one). What precedes it is a factor of all of them; the
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
  loop::Builder& builder = call.b;
  const Dtype type = call.outputs[0].dtype;
  const int32_t a = call.input(0), b = call.input(1);
  lower_walk(call, {static_cast<int>(attrs.axis), attrs.reverse, [&](loop::Value) { return builder.constant(type, int64_t{0}); },
                    [&](loop::Value previous, loop::Value before, loop::Value) {
                      const loop::Value factor = builder.load(a, before), term = builder.load(b, before);
                      return is_floating(type) ? builder.fma(factor, previous, term)
                                               : builder.add(builder.multiply(factor, previous), term);
                    }});
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

constexpr OpDef cumulate_op(std::string_view name, GradientRule gradient, LowerRule lower) {
  return {.name = name,
          .kind = OpKind::Reduce,
          .inputs = 1,
          .dtype = dtype_rule::promoted_number,
          .shape = cumulate_shape,
          .ragged = RaggedPolicy::PerRow,
          .gradient = gradient,
          .lower = lower,
          .attrs = [] { return Attrs(CumulateAttrs{}); }};
}

CumulateAttrs cumulate_attrs(const Tensor& x, const CumulateOptions& options) {
  const int64_t rank = x.rank(), axis = options.axis;
  return {axis < 0 && axis >= -rank ? axis + rank : axis, options.reverse, options.exclusive};
}

}  // namespace

constinit const OpDef cumsum_op = cumulate_op("cumsum", cumsum_gradient, lower_cumulate<loop::Op::Add, 0>);
constinit const OpDef cumprod_op = cumulate_op("cumprod", cumprod_gradient, lower_cumulate<loop::Op::Multiply, 1>);

// a, b -> s with s[0] = 0 and s[i + 1] = a[i] * s[i] + b[i] along the axis.
constinit const OpDef linear_recurrence_op{.name = "linear_recurrence",
                                           .kind = OpKind::Reduce,
                                           .inputs = 2,
                                           .dtype = dtype_rule::promoted_number,
                                           .shape = recurrence_shape,
                                           .gradient = recurrence_gradient,
                                           .lower = lower_recurrence,
                                           .attrs = [] { return Attrs(RecurrenceAttrs{}); }};

Tensor cumsum(const Tensor& x, CumulateOptions options) { return bind(cumsum_op, {x}, cumulate_attrs(x, options)); }
Tensor cumprod(const Tensor& x, CumulateOptions options) { return bind(cumprod_op, {x}, cumulate_attrs(x, options)); }

}  // namespace anyshape
