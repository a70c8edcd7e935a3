// pad: x, a value -> x's elements at even distances inside a larger tensor that holds the value elsewhere. It is the gradient of slice, too.
// The other modes of padding are mirrored or repeated slices put before and after.
#include "ops/movement/pad.h"
#include "graph/named_call.h"

#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/loops.h"
#include "ops/movement/slice.h"
#include "ops/ragged/rules.h"
#include "ops/sizes.h"
#include "tensor/view.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

Specs shape(OpCall& call) {
  const PadAttrs& attrs = call.attrs_as<PadAttrs>();
  const Shape& from = call.shape(0);
  const std::string what = fmt::format("cannot stand in {}", to_string(attrs.shape));
  const size_t count = attrs.begins.size();
  if (attrs.shape.rank() != from.rank() || static_cast<int>(count) > from.rank() || attrs.steps.size() != count) {
    call.fail(what, "a shape of the tensor's rank");
  }
  if (call.shape(1).rank() != 0) call.fail("the value is no scalar", "a value of rank 0");
  require_sizes(call, attrs.shape);
  for (int axis = 0; axis < from.rank(); ++axis) {
    const bool is_named = static_cast<size_t>(axis) < count;
    const Dim begin = is_named ? attrs.begins[axis] : 0;
    const int64_t step = is_named ? attrs.steps[axis] : 1;
    const Dim last = begin + (from[axis] - 1) * step;
    constexpr std::string_view rule = "an index in the shape for every element";
    call.require({Relation::LessEqual, 0, step > 0 ? begin : last}, what, rule);
    call.require({Relation::LessEqual, (step > 0 ? last : begin) + 1, attrs.shape[axis]}, what, rule);
  }
  return {{call.inputs[0].dtype, attrs.shape, {}}};
}

std::vector<Tensor> gradient(const GradientCall& call) {
  const PadAttrs& attrs = call.attrs.as<PadAttrs>();
  const Tensor& dy = call.dys[0];
  std::vector<Tensor> result(2);
  if (call.needed[0]) {
    SliceAttrs slice{attrs.begins, {}, attrs.steps};
    for (size_t axis = 0; axis < attrs.begins.size(); ++axis) slice.sizes.push_back(call.inputs[0].shape()[static_cast<int>(axis)]);
    result[0] = bind(slice_op, {dy}, std::move(slice));
  }
  if (call.needed[1]) {
    const Tensor outside = bind(pad_op, {zeros_like(call.inputs[0]), make_scalar(dy.dtype(), int64_t{1})}, attrs);
    result[1] = sum(dy * outside);
  }
  return result;
}

void lower(LowerCall& call) {
  loop::Builder& b = call.b;
  const PadAttrs& attrs = call.call.attrs_as<PadAttrs>();
  const Shape &from = call.call.shape(0), &to = call.outputs[0].shape;
  const int rank = from.rank();
  const int32_t source = call.input(0), value = call.input(1), target = call.output(0);
  fill(b, target, call.size(to.count()), b.load(value, b.integer(0)));
  if (rank == 0) return b.store(target, b.integer(0), b.load(source, b.integer(0)));

  std::vector<loop::Value> outer_sizes, target_sizes, begins(rank, b.integer(0)), steps(rank, b.integer(1));
  for (int axis = 0; axis + 1 < rank; ++axis) outer_sizes.push_back(call.size(from[axis]));
  for (int axis = 0; axis < rank; ++axis) target_sizes.push_back(call.size(to[axis]));
  for (size_t axis = 0; axis < attrs.begins.size(); ++axis) {
    begins[axis] = call.size(attrs.begins[axis]);
    steps[axis] = b.integer(attrs.steps[axis]);
  }
  const loop::Value length = call.size(from[rank - 1]);
  const loop::Value rows = call.size(count_between(from, 0, rank - 1));
  b.ranges(rows, length, b.integer(1), loop::Walk::Once, [&](loop::Value row, loop::Value begin, loop::Value end) {
    std::vector<loop::Value> index = unravel(b, row, outer_sizes);
    index.push_back(b.integer(0));
    for (int axis = 0; axis < rank; ++axis) index[axis] = b.add(b.multiply(index[axis], steps[axis]), begins[axis]);
    const loop::Value to_row = ravel(b, index, target_sizes), from_row = b.multiply(row, length);
    b.elements(begin, end,
               [&](loop::Value i) { b.store(target, b.add(to_row, b.multiply(i, steps[rank - 1])), b.load(source, b.add(from_row, i))); });
  });
}

// What stands before or after x along an axis in the modes other than Constant.
Tensor border(const Tensor& x, int axis, const Dim& width, bool before, PadMode mode) {
  const Dim size = x.shape()[axis];
  if (mode == PadMode::Edge) {
    Shape shape = x.shape();
    shape[axis] = width;
    return broadcast_to(slice_along(x, axis, before ? Dim(0) : size - 1, 1), shape);
  }
  const int64_t skipped = mode == PadMode::Reflect ? 1 : 0;
  return slice_along(x, axis, before ? width - 1 + skipped : size - 1 - skipped, width, -1);
}

Tensor with_borders(const NamedCall& call, const Tensor& x, int axis, const PadWidth& width, PadMode mode) {
  const Dim size = x.shape()[axis];
  std::vector<Tensor> parts;
  for (const bool before : {true, false}) {
    const Dim& wanted = before ? width.before : width.after;
    if (!before) parts.push_back(x);
    if (wanted.same_as(0)) continue;
    if (mode == PadMode::Edge ? size < 1 : size - (mode == PadMode::Reflect ? 1 : 0) < wanted) {
      call.fail(fmt::format("width {} along axis {} of size {}", to_string(wanted), axis, to_string(size)),
                mode == PadMode::Edge      ? "an axis with an element to repeat"
                : mode == PadMode::Reflect ? "widths below the axis's size to reflect"
                                           : "widths of at most the axis's size to mirror");
    }
    parts.push_back(border(x, axis, wanted, before, mode));
  }
  return parts.size() == 1 ? x : concat(parts, {.axis = axis});
}

Tensor pad_ragged(const NamedCall& call, const Tensor& x, const std::vector<PadWidth>& widths, const PadOptions& options) {
  std::vector<PadWidth> own(1);
  for (size_t axis = 0; axis < widths.size(); ++axis) {
    if (axis >= 2) {
      own.push_back(widths[axis]);
    } else if (!widths[axis].before.same_as(0) || !widths[axis].after.same_as(0)) {
      values_axis(call, static_cast<int>(axis));
    }
  }
  return on_values(x, [&](const Tensor& values) { return pad(values, own, options); });
}

bool keeps_rows(const OpCall& call) {
  const PadAttrs& attrs = call.attrs_as<PadAttrs>();
  return attrs.begins.empty() || (attrs.begins[0].same_as(0) && attrs.steps[0] == 1);
}

Attrs with_rows(const Attrs& given, const Dim& rows) {
  PadAttrs attrs = given.as<PadAttrs>();
  attrs.shape[0] = rows;
  return attrs;
}

bool adds_nothing(const OpCall& call) {
  const PadAttrs& attrs = call.attrs_as<PadAttrs>();
  return begins_at_zero({attrs.begins, attrs.steps});
}

constexpr RowRule row_rule{.is_apart = keeps_rows, .with_rows = with_rows};

}  // namespace

constinit const OpDef pad_op{.name = "pad",
                             .kind = OpKind::Movement,
                             .inputs = 2,
                             .dtype = dtype_rule::promoted,
                             .shape = shape,
                             .gradient = gradient,
                             .lower = lower,
                             .rows = &row_rule,
                             .attrs = [] { return Attrs(PadAttrs{}); },
                             .traits = {.is_identity = adds_nothing}};

Tensor place_among_zeros(const Tensor& x, PadAttrs attrs) {
  return bind(pad_op, {x, make_scalar(x.dtype(), int64_t{0})}, std::move(attrs));
}

Tensor pad(const Tensor& x, const std::vector<PadWidth>& widths, const PadOptions& options) {
  const NamedCall call("pad", x);
  if (x.is_ragged()) return pad_ragged(call, x, widths, options);
  PadAttrs attrs{{}, {}, x.shape()};
  if (static_cast<int>(widths.size()) > x.rank()) {
    call.fail(fmt::format("{} widths for {} axes", widths.size(), x.rank()), "at most one width per axis");
  }
  for (size_t i = 0; i < widths.size(); ++i) {
    const int axis = static_cast<int>(i);
    for (const Dim& width : {widths[i].before, widths[i].after}) {
      if (width < 0) call.fail(fmt::format("width {} along axis {}", to_string(width), axis), "widths of at least 0");
    }
    attrs.begins.push_back(widths[i].before);
    attrs.steps.push_back(1);
    attrs.shape[axis] = widths[i].before + attrs.shape[axis] + widths[i].after;
  }
  if (options.mode == PadMode::Constant) return bind(pad_op, {x, cast(options.value, x.dtype())}, std::move(attrs));
  Tensor result = x;
  for (size_t i = 0; i < widths.size(); ++i) result = with_borders(call, result, static_cast<int>(i), widths[i], options.mode);
  return result;
}

}  // namespace anyshape
