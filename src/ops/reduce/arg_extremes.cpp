// argmax, argmin: x -> the index of the greatest or least element along an axis, as i32: of equal ones the first, of NaNs the first.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "loop/element.h"
#include "loop/parts.h"
#include "ops/all_ops.h"
#include "ops/loops.h"
#include "ops/ragged/rules.h"
#include "ops/reduce/best.h"
#include "ops/sizes.h"

#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>

#include <limits>

namespace anyshape {
namespace {

struct ArgExtremeAttrs {
  int64_t axis = 0;
  bool keep_dims = false;
  template <class V>
  void visit(V& v) {
    v("axis", axis);
    v("keep_dims", keep_dims);
  }
};

Specs shape(OpCall& call) {
  const Shape& x = call.shape(0);
  const ArgExtremeAttrs& attrs = call.attrs_as<ArgExtremeAttrs>();
  const int along = call.axis(attrs.axis, x.rank());
  call.require({Relation::LessEqual, 1, x[along]}, "there is no element to choose", "at least one element along the axis");
  call.require({Relation::LessEqual, x[along], std::numeric_limits<int32_t>::max()}, "indices do not fit i32",
               "fewer than 2147483648 elements along the axis");
  Shape result;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (axis != along)
      result.push_back(x[axis]);
    else if (attrs.keep_dims)
      result.push_back(1);
  }
  return {{Dtype::i32, std::move(result), {}}};
}

// The innermost axis. Long rows are cut into parts of fixed size, whose answers are looked through once more.
void lower_rows(LowerCall& call, loop::Combine combine, const Dim& row_count, const Dim& row_length) {
  loop::Builder& b = call.b;
  const Dtype type = call.call.inputs[0].dtype;
  const Dim part_count = (row_length + (loop::part_elements - 1)) / loop::part_elements;
  const int32_t x = call.input(0), y = call.output(0);
  const int32_t values = call.scratch(type, row_count * part_count), indices = call.scratch(Dtype::i64, row_count * part_count);
  const loop::Value rows = call.size(row_count), length = call.size(row_length), parts = call.size(part_count);
  const loop::Value zero = b.integer(0), one = b.integer(1);
  const loop::Value part_length = b.integer(loop::part_elements);
  const auto search = [&](loop::Value row, loop::Value begin, loop::Value end) {
    const loop::Value start = b.multiply(row, length);
    return best_of(b, combine, begin, end, [&](loop::Value i) { return b.load(x, b.add(start, i)); }, [](loop::Value i) { return i; });
  };
  b.if_(
      b.binary(loop::Op::LessEqual, parts, one),
      [&] { b.each(zero, rows, length, [&](loop::Value row) { b.store(y, row, b.cast(search(row, zero, length).index, Dtype::i32)); }); },
      [&] {
        b.each(zero, b.multiply(rows, parts), part_length, [&](loop::Value part) {
          const loop::Value begin = b.multiply(modulo(b, part, parts), part_length);
          const Best best = search(b.floor_divide(part, parts), begin, b.minimum(b.add(begin, part_length), length));
          b.store(values, part, best.value);
          b.store(indices, part, best.index);
        });
        b.serial_for(zero, rows, [&](loop::Value row) {
          const loop::Value start = b.multiply(row, parts);
          const Best best = best_of(
              b, combine, zero, parts, [&](loop::Value i) { return b.load(values, b.add(start, i)); },
              [&](loop::Value i) { return b.load(indices, b.add(start, i)); });
          b.store(y, row, b.cast(best.index, Dtype::i32));
        });
      });
}

// An outer axis: what lies beside it is walked side by side, each column with its best so far.
void lower_columns(LowerCall& call, loop::Combine combine, loop::Value outer, loop::Value length, loop::Value inner) {
  loop::Builder& b = call.b;
  const int32_t x = call.input(0), y = call.output(0);
  const loop::Value zero = b.integer(0);
  b.ranges(outer, inner, length, loop::Walk::Scattered, [&](loop::Value row, loop::Value begin, loop::Value end) {
    b.elements(begin, end, [&](loop::Value column) {
      const loop::Value start = b.add(b.multiply(row, b.multiply(length, inner)), column);
      const loop::Value index =
          best_in_order(b, combine, zero, length, [&](loop::Value i) { return b.load(x, b.add(start, b.multiply(i, inner))); });
      b.store(y, b.add(b.multiply(row, inner), column), index);
    });
  });
}

template <loop::Combine combine>
void lower(LowerCall& call) {
  const Shape& shape = call.call.shape(0);
  const int axis = call.call.axis(call.call.attrs_as<ArgExtremeAttrs>().axis, shape.rank());
  const Dim outer = count_between(shape, 0, axis), inner = count_between(shape, axis + 1, shape.rank());
  if (inner.same_as(1)) return lower_rows(call, combine, outer, shape[axis]);
  lower_columns(call, combine, call.size(outer), call.size(shape[axis]), call.size(inner));
}

// Inside every row, or along one of the values' own axes.
template <Tensor (*of_rows)(const Tensor& values, const Tensor& splits)>
std::vector<Tensor> ragged(const RaggedCall& call) {
  const ArgExtremeAttrs& attrs = call.attrs.as<ArgExtremeAttrs>();
  const auto& [values, partition] = *as_ragged(call.inputs[0]);
  const int axis = padded_axis(call, attrs.axis, call.inputs[0].rank());
  if (axis == 0) refuse(call, "the axis is that of the rows", "the ragged axis or one behind it");
  if (axis > 1) return {make_ragged(bind(call.op, {values}, ArgExtremeAttrs{axis - 1, attrs.keep_dims}), partition)};
  const Tensor index = of_rows(values, partition->splits);
  return {attrs.keep_dims ? expand_dims(index, 1) : index};
}

template <loop::Combine combine>
constexpr OpDef arg_extreme_op(std::string_view name) {
  return {.name = name,
          .kind = OpKind::Reduce,
          .inputs = 1,
          .dtype = dtype_rule::promoted_number,
          .shape = shape,
          .ragged = RaggedPolicy::PerRow,
          .ragged_rule = ragged < combine == loop::Combine::Maximum ? segment::argmax : segment::argmin >
          , .lower = lower<combine>, .attrs = [] { return Attrs(ArgExtremeAttrs{}); }};
}

// Without an axis: all elements in row-major order.
Tensor arg_extreme(const OpDef& op, const Tensor& x, const ArgExtremeOptions& options) {
  const NamedCall call(op.name, x);
  const int64_t rank = x.rank();
  if (options.axis.has_value()) {
    const int64_t axis = *options.axis;
    return bind(op, {x}, ArgExtremeAttrs{axis < 0 && axis >= -rank ? axis + rank : axis, options.keep_dims});
  }
  const Tensor index = bind(op, {reshape(x, {x.shape().count()})}, ArgExtremeAttrs{});
  return options.keep_dims ? reshape(index, Shape(std::vector<Dim>(static_cast<size_t>(rank), 1))) : index;
}

}  // namespace

constinit const OpDef argmax_op = arg_extreme_op<loop::Combine::Maximum>("argmax");
constinit const OpDef argmin_op = arg_extreme_op<loop::Combine::Minimum>("argmin");

Tensor argmax(const Tensor& x, ArgExtremeOptions options) { return arg_extreme(argmax_op, x, options); }
Tensor argmin(const Tensor& x, ArgExtremeOptions options) { return arg_extreme(argmin_op, x, options); }

}  // namespace anyshape
