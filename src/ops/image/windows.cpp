// Where windows lie along axes of any size, as formulas for shapes and as instructions for loops.
#include "ops/image/windows.h"

#include "graph/named_call.h"
#include "loop/element.h"
#include "ops/sizes.h"

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

using loop::Op;
using loop::Value;

Value ceil_divided(loop::Builder& b, Value a, Value divisor) {
  return b.floor_divide(b.add(a, b.subtract(divisor, b.integer(1))), divisor);
}
Value at_least_zero(loop::Builder& b, Value a) { return b.maximum(a, b.integer(0)); }

std::vector<Dim> dims_of(const std::vector<int64_t>& numbers) { return {numbers.begin(), numbers.end()}; }

bool is_shown(const SizeCheck& check) { return check.a.is_constant() && check.b.is_constant() && check.a.value() <= check.b.value(); }

}  // namespace

std::vector<Dim> spatial_sizes(const Shape& image) {
  std::vector<Dim> sizes;
  for (int axis = 1; axis + 1 < image.rank(); ++axis) sizes.push_back(image[axis]);
  return sizes;
}

Shape image_shape(const Dim& images, std::span<const Dim> sizes, const Dim& channels) {
  Shape shape = {images};
  for (const Dim& size : sizes) shape.push_back(size);
  shape.push_back(channels);
  return shape;
}

Dim span_of(const Dim& taps, const Dim& dilation) { return (taps - 1) * dilation + 1; }

Windows windows_on(const NamedCall& call, const Shape& image, std::span<const Dim> taps, const WindowOptions& options) {
  const int axes = image.rank() - 2;
  Windows result{.attrs = {.strides = dims_of(options.strides), .dilation = dims_of(options.dilation), .before = {}, .padding = {}},
                 .outputs = {}};
  const Padding::Kind kind = options.padding.kind();
  if (kind == Padding::Kind::Causal && axes != 1)
    call.fail_argument("padding is \"causal\"", "it for sequences [batch, time, channels] alone, \"valid\" or \"same\" for images");
  std::vector<Padding::Ends> ends(static_cast<size_t>(axes));
  if (kind == Padding::Kind::Explicit) ends = options.padding.along(axes, std::string(call.name()));
  for (int axis = 0; axis < axes; ++axis) {
    const auto k = static_cast<size_t>(axis);
    const Dim &size = image[axis + 1], span = span_of(taps[k], options.dilation[k]);
    const int64_t stride = options.strides[k];
    if (kind == Padding::Kind::Same || kind == Padding::Kind::Causal) {
      const Dim outputs = (size + stride - 1) / stride;
      const bool is_causal = kind == Padding::Kind::Causal;
      result.outputs.push_back(outputs);
      result.attrs.before.push_back(is_causal ? span - 1 : max((outputs - 1) * stride + span - size, 0) / 2);
    } else {
      result.attrs.before.emplace_back(ends[k].first);
      result.attrs.padding.push_back(Dim(ends[k].first) + ends[k].second);
      result.outputs.push_back(fitting_outputs(result.attrs, k, size, taps[k]));
    }
  }
  return result;
}

Dim fitting_outputs(const WindowAttrs& attrs, size_t axis, const Dim& input, const Dim& taps) {
  return (input + attrs.padding[axis] - span_of(taps, attrs.dilation[axis])) / attrs.strides[axis] + 1;
}

void require_windows(OpCall& call, const WindowAttrs& attrs, std::span<const Dim> taps) {
  constexpr std::string_view what = "windows do not lie along the spatial axes", rule = "strides, dilation and padding for every axis";
  const size_t axes = taps.size();
  for (const std::vector<Dim>* each : {&attrs.strides, &attrs.dilation, &attrs.before}) {
    if (each->size() != axes) call.fail(what, rule);
  }
  if (!attrs.padding.empty() && attrs.padding.size() != axes) call.fail(what, rule);
  for (size_t axis = 0; axis < axes; ++axis) {
    call.require({Relation::LessEqual, 1, attrs.strides[axis]}, "a stride is less than 1", "strides of at least 1");
    call.require({Relation::LessEqual, 1, attrs.dilation[axis]}, "a dilation is less than 1", "a dilation of at least 1");
    call.require({Relation::LessEqual, 0, attrs.before[axis]}, "padding is negative", "padding of at least 0");
    call.require({Relation::LessEqual, 1, taps[axis]}, "a window has no element", "windows of at least 1 element along every axis");
  }
}

void require_fit(OpCall& call, const WindowAttrs& attrs, std::span<const Dim> inputs, std::span<const Dim> taps) {
  for (size_t axis = 0; axis < attrs.padding.size(); ++axis) {
    const Dim &size = inputs[axis], &padding = attrs.padding[axis];
    const Dim span = span_of(taps[axis], attrs.dilation[axis]);
    const SizeCheck check{Relation::LessEqual, span, size + padding};
    if (is_shown(check)) continue;
    const std::string padded = padding.same_as(0) ? "" : fmt::format(" and {} of padding", to_string(padding));
    const std::string spread = attrs.dilation[axis].same_as(1) ? "" : fmt::format(" spread over {}", to_string(span));
    call.require(
        check,
        fmt::format("axis {} has {} elements{}, too few for {} taps{}", axis + 1, to_string(size), padded, to_string(taps[axis]), spread),
        fmt::format("at least {} elements, or padding \"same\"", to_string(span - padding)));
  }
}

std::vector<WindowAxis> window_axes(LowerCall& call, const WindowAttrs& attrs, std::span<const Dim> inputs, std::span<const Dim> outputs,
                                    std::span<const Dim> taps) {
  std::vector<WindowAxis> axes;
  for (size_t axis = 0; axis < taps.size(); ++axis) {
    axes.push_back({call.size(inputs[axis]), call.size(outputs[axis]), call.size(taps[axis]), call.size(attrs.strides[axis]),
                    call.size(attrs.dilation[axis]), call.size(attrs.before[axis])});
  }
  return axes;
}

Value met_input(loop::Builder& b, const WindowAxis& axis, Value output, Value tap) {
  return b.subtract(b.add(b.multiply(output, axis.stride), b.multiply(tap, axis.dilation)), axis.before);
}

IndexRange taps_inside(loop::Builder& b, const WindowAxis& axis, Value output) {
  const Value first = b.subtract(b.multiply(output, axis.stride), axis.before);
  const Value end = b.add(b.floor_divide(b.subtract(b.subtract(axis.input, b.integer(1)), first), axis.dilation), b.integer(1));
  return {at_least_zero(b, ceil_divided(b, b.unary(Op::Negate, first), axis.dilation)), b.minimum(end, axis.taps)};
}

IndexRange outputs_inside(loop::Builder& b, const WindowAxis& axis, Value tap) {
  const Value back = b.subtract(axis.before, b.multiply(tap, axis.dilation));
  const Value end = b.add(b.floor_divide(b.add(b.subtract(axis.input, b.integer(1)), back), axis.stride), b.integer(1));
  return {at_least_zero(b, ceil_divided(b, back, axis.stride)), b.minimum(end, axis.output)};
}

IndexRange outputs_around(loop::Builder& b, const WindowAxis& axis, Value input) {
  const Value last = b.add(input, axis.before), one = b.integer(1);
  const Value begin = ceil_divided(b, b.add(b.subtract(last, axis.taps), one), axis.stride);
  return {at_least_zero(b, begin), b.minimum(b.add(b.floor_divide(last, axis.stride), one), axis.output)};
}

std::vector<Value> carry_nest(loop::Builder& b, std::span<const RangeOf> ranges, std::span<const Value> initial, const NestBody& body) {
  std::vector<Value> index;
  const std::function<std::vector<Value>(std::span<const Value>)> level = [&](std::span<const Value> carried) -> std::vector<Value> {
    if (index.size() == ranges.size()) return body(index, carried);
    const IndexRange range = ranges[index.size()](index);
    return b.carry_for(range.begin, range.end, carried, [&](Value at, std::span<const Value> inner) {
      index.push_back(at);
      std::vector<Value> next = level(inner);
      index.pop_back();
      return next;
    });
  };
  return level(initial);
}

}  // namespace anyshape
