// slice: x, per leading axis a begin, a size and a step -> those elements. Eagerly a view.
#include "ops/movement/slice.h"
#include "graph/named_call.h"

#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/movement/pad.h"
#include "ops/ragged/rules.h"
#include "tensor/view.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace anyshape {
namespace {

// a <= b. The text is made only where it may be needed: eager slices are views and cost little else.
void require_inside(OpCall& call, int axis, const Dim& a, const Dim& b) {
  if (proves_less_equal(a, b).value_or(false)) return;
  const SliceAttrs& attrs = call.attrs_as<SliceAttrs>();
  const Dim &begin = attrs.begins[axis], &size = attrs.sizes[axis];
  const int64_t step = attrs.steps[axis];
  const std::string_view name = called_name(call.op);
  if (size.same_as(1) && (name == "operator[]" || name == "at" || name == "updated")) {
    call.require({Relation::LessEqual, a, b}, fmt::format("index {} along axis {} is outside", to_string(begin), axis),
                 "0 <= index < the axis's size");
  } else if (step == 1) {
    call.require({Relation::LessEqual, a, b}, fmt::format("range {}:{} along axis {}", to_string(begin), to_string(begin + size), axis),
                 "0 <= begin <= end <= the axis's size");
  } else {
    call.require({Relation::LessEqual, a, b},
                 fmt::format("{} elements from {} on in steps of {} along axis {}", to_string(size), to_string(begin), step, axis),
                 "every one of them inside the axis");
  }
}

Specs shape(OpCall& call) {
  const SliceAttrs& attrs = call.attrs_as<SliceAttrs>();
  Shape result = call.shape(0);
  const int count = static_cast<int>(attrs.begins.size());
  if (count > result.rank()) call.fail(fmt::format("{} ranges for {} axes", count, result.rank()), "at most one range per axis");
  if (attrs.sizes.size() != attrs.begins.size() || attrs.steps.size() != attrs.begins.size()) {
    call.fail_argument("begins, sizes and steps differ in number", "one of each per range");
  }
  for (int axis = 0; axis < count; ++axis) {
    const Dim &begin = attrs.begins[axis], &size = attrs.sizes[axis];
    const int64_t step = attrs.steps[axis];
    if (step == 0) call.fail(fmt::format("the step along axis {} is 0", axis), "a step other than 0");
    const Dim last = begin + (size - 1) * step;  // of nothing: a step before the begin
    require_inside(call, axis, 0, size);
    require_inside(call, axis, 0, step > 0 ? begin : last);
    require_inside(call, axis, (step > 0 ? last : begin) + 1, result[axis]);
    result[axis] = size;
  }
  return {{call.inputs[0].dtype, std::move(result), {}}};
}

loop::Value element(ElementCall& call) {
  const SliceAttrs& attrs = call.call.attrs_as<SliceAttrs>();
  loop::Builder& b = call.b;
  std::vector<loop::Value> index(call.index.begin(), call.index.end());
  for (size_t axis = 0; axis < attrs.begins.size(); ++axis) {
    index[axis] = b.add(b.multiply(index[axis], b.integer(attrs.steps[axis])), call.size(attrs.begins[axis]));
  }
  return call.input(0, index);
}

std::vector<Tensor> gradient(const GradientCall& call) {
  const SliceAttrs& attrs = call.attrs.as<SliceAttrs>();
  return {place_among_zeros(call.dys[0], PadAttrs{attrs.begins, attrs.steps, call.inputs[0].shape()})};
}

Tensor view(std::span<const Tensor> inputs, const Attrs& call_attrs, const TensorSpec& output) {
  const SliceAttrs& attrs = call_attrs.as<SliceAttrs>();
  const size_t rank = static_cast<size_t>(output.shape.rank());
  std::array<int64_t, max_rank> begins{}, sizes{}, steps{};
  steps.fill(1);
  for (size_t axis = 0; axis < rank; ++axis) sizes[axis] = output.shape[static_cast<int>(axis)].value();
  for (size_t axis = 0; axis < attrs.begins.size(); ++axis) {
    begins[axis] = attrs.begins[axis].value();
    steps[axis] = attrs.steps[axis];
  }
  return slice_view(inputs[0], {begins.data(), rank}, {sizes.data(), rank}, {steps.data(), rank});
}

// As in NumPy, a constant bound outside is moved to the nearest end, and a negative one counts from the end. `lowest` and `highest` are
// where the ends lie: 0 and the size forwards, -1 and the last element backwards.
Dim clamped(const Dim& bound, const Dim& size, const Dim& lowest, const Dim& highest) {
  if (!bound.is_constant()) return bound;
  return bound.value() < 0 ? max(size + bound, lowest) : min(bound, highest);
}

bool keeps_rows(const OpCall& call) {
  const SliceAttrs& attrs = call.attrs_as<SliceAttrs>();
  return attrs.begins.empty() || (attrs.begins[0].same_as(0) && attrs.steps[0] == 1);
}

Attrs with_rows(const Attrs& given, const Dim& rows) {
  SliceAttrs attrs = given.as<SliceAttrs>();
  if (!attrs.sizes.empty()) attrs.sizes[0] = rows;
  return attrs;
}

TensorPart part(const Attrs& given) {
  const SliceAttrs& attrs = given.as<SliceAttrs>();
  return {attrs.begins, attrs.steps};
}
bool is_all(const OpCall& call) { return begins_at_zero(part(call.attrs)); }

constexpr RowRule row_rule{.is_apart = keeps_rows, .with_rows = with_rows};

}  // namespace

void append_range(SliceAttrs& attrs, const SliceRange& range, const Dim& size) {
  constexpr int64_t longest = int64_t{1} << 62;  // beyond any axis; a longer step would only overflow
  const int64_t step = std::clamp(range.step, -longest, longest), stride = step == 0 ? 1 : std::abs(step);
  const bool forward = step >= 0;  // a step of 0 is refused by the shape rule
  const Dim lowest = forward ? 0 : -1, highest = forward ? size : size - 1;
  const Dim begin = range.begin ? clamped(*range.begin, size, lowest, highest) : (forward ? 0 : highest);
  const Dim end = range.end ? clamped(*range.end, size, lowest, highest) : (forward ? highest : lowest);
  // Constant bounds in the wrong order give nothing, as in NumPy; others are checked.
  const bool may_cross = range.begin && range.end && range.begin->is_constant() && range.end->is_constant();
  const Dim apart = forward ? end - begin : begin - end;
  const Dim distance = may_cross ? max(apart, 0) : apart;
  attrs.begins.push_back(begin);
  attrs.sizes.push_back(stride == 1 ? distance : (distance - 1) / stride + 1);
  attrs.steps.push_back(step);
}

constinit const OpDef slice_op{.name = "slice",
                               .kind = OpKind::Movement,
                               .inputs = 1,
                               .dtype = dtype_rule::any,
                               .shape = shape,
                               .gradient = gradient,
                               .element = element,
                               .rows = &row_rule,
                               .view = view,
                               .attrs = [] { return Attrs(SliceAttrs{}); },
                               .traits = {.keeps_elements = true, .is_identity = is_all, .part = part}};

Tensor slice(const Tensor& x, const std::vector<SliceRange>& ranges) {
  const NamedCall call("slice", x);
  if (x.is_ragged()) return slice_ragged(x, ranges);
  const Shape shape = x.shape();
  SliceAttrs attrs;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const int axis = static_cast<int>(i);
    append_range(attrs, ranges[i], axis < shape.rank() ? shape[axis] : Dim(0));  // too many: refused by the shape rule
  }
  return bind(slice_op, {x}, std::move(attrs));
}

Tensor slice_along(const Tensor& x, int axis, const Dim& begin, const Dim& size, int64_t step) {
  SliceAttrs attrs;
  for (int before = 0; before < axis; ++before) append_range(attrs, {}, x.shape()[before]);
  attrs.begins.push_back(begin);
  attrs.sizes.push_back(size);
  attrs.steps.push_back(step);
  return bind(slice_op, {x}, std::move(attrs));
}

}  // namespace anyshape
