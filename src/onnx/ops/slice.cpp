// ONNX's parts of tensors, and what is put around them.
#include "onnx/ops/held_axes.h"
#include "onnx/rule.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace anyshape::onnx {
namespace {

constexpr RuleOptions as_held{.takes_images = true};

std::vector<int64_t> all_axes(int rank) {
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}
std::vector<Dim> as_sizes(const std::vector<int64_t>& numbers) { return {numbers.begin(), numbers.end()}; }

// Bounds beyond the ends are the ends. Numbers are moved there by slice(); an expression that may lie beyond is moved here.
Dim inside(const Dim& bound, const Dim& size) {
  if (bound.is_constant() || bound.same_as(size)) return bound;
  if (bound.upper_bound() < 0) return max(size + bound, 0);
  return min(bound, size);
}

Results slice_rule(NodeCall& call) {
  const Held x(call.value(0));
  const Shape shape = call.shape(0);
  const bool by_inputs = call.opset() >= 10;
  const std::vector<Dim> begins = by_inputs ? call.sizes(1) : as_sizes(call.integers("starts"));
  const std::vector<Dim> ends = by_inputs ? call.sizes(2) : as_sizes(call.integers("ends"));
  std::vector<int64_t> axes = all_axes(static_cast<int>(begins.size())), steps(begins.size(), 1);
  if (by_inputs ? call.has(3) : call.has("axes")) axes = by_inputs ? call.integers(3) : call.integers("axes");
  if (call.has(4)) steps = call.integers(4);
  if (ends.size() != begins.size() || axes.size() != begins.size() || steps.size() != begins.size()) {
    call.fail(fmt::format("it has {} starts, {} ends, {} axes and {} steps", begins.size(), ends.size(), axes.size(), steps.size()),
              "as many of each");
  }
  if (begins.size() > static_cast<size_t>(shape.rank()))
    call.fail(fmt::format("{} ranges of rank {}", begins.size(), shape.rank()), "at most one per axis");
  std::vector<SliceRange> ranges(static_cast<size_t>(shape.rank()));
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = call.axis(axes[i], shape.rank());
    const Dim& size = shape[static_cast<int>(axis)];
    if (steps[i] == 0) call.fail("a step is 0", "another one");
    SliceRange& range = ranges[static_cast<size_t>(axis)];
    range.step = steps[i];
    // An end that no size reaches is none: backwards that is how the first element is told.
    const bool is_last = ends[i].is_constant() && (steps[i] > 0 ? ends[i].value() >= std::numeric_limits<int32_t>::max()
                                                                : ends[i].value() <= -std::numeric_limits<int32_t>::max());
    const bool is_first =
        begins[i].is_constant() && (steps[i] > 0 ? begins[i].value() == 0 : begins[i].value() >= std::numeric_limits<int32_t>::max());
    if (!is_first) range.begin = inside(begins[i], size);
    if (!is_last) range.end = inside(ends[i], size);
  }
  return x.like(slice(x.tensor, x.in_order(ranges)));
}

// Parts by their lengths; by their number; or as many equal ones as there are outputs.
Results split_rule(NodeCall& call) {
  const Held x(call.value(0));
  const int64_t axis = call.axis(call.integer("axis", 0), x.tensor.rank());
  const Dim size = call.shape(0)[static_cast<int>(axis)];
  std::vector<Dim> lengths;
  if (call.has(1))
    lengths = call.sizes(1);
  else if (call.has("split"))
    lengths = as_sizes(call.integers("split"));
  std::vector<Dim> borders;
  if (lengths.empty()) {
    const int64_t parts = call.integer("num_outputs", static_cast<int64_t>(call.outputs()));
    if (parts < 1 || parts > static_cast<int64_t>(call.outputs())) call.fail(fmt::format("{} parts", parts), "one per output");
    const Dim length = (size + (parts - 1)) / parts;
    for (int64_t part = 1; part < parts; ++part) borders.push_back(size.is_constant() ? min(length * part, size) : length * part);
  } else {
    Dim border = 0;
    for (size_t part = 0; part + 1 < lengths.size(); ++part) borders.push_back(border = border + lengths[part]);
    if (size.is_constant() && (border + lengths.back()).is_constant() && !size.same_as(border + lengths.back())) {
      call.fail(fmt::format("the parts have {} elements of {}", to_string(border + lengths.back()), to_string(size)), "all of them");
    }
  }
  if (borders.empty()) return call.value(0);
  std::vector<Value> parts;
  for (const Tensor& part : split(x.tensor, borders, {.axis = x.axis(axis)})) parts.push_back(x.like(part));
  return Results(std::move(parts));
}

// Elements from the other end again and again.
Tensor wrapped_around(Tensor x, const std::vector<PadWidth>& widths) {
  for (size_t axis = 0; axis < widths.size(); ++axis) {
    const Dim size = x.shape()[static_cast<int>(axis)];
    if (widths[axis].before.same_as(0) && widths[axis].after.same_as(0)) continue;
    const Tensor length = Value::size(size).tensor();
    const Tensor place =
        arange(size + widths[axis].before + widths[axis].after, {.dtype = i64}) - Value::size(widths[axis].before).tensor();
    x = take(x, remainder(place, length), {.axis = static_cast<int64_t>(axis)});
  }
  return x;
}

// What is cut where a width is below 0.
Tensor cropped(const Tensor& x, std::vector<PadWidth>& widths) {
  std::vector<SliceRange> ranges(widths.size());
  bool is_cut = false;
  for (size_t axis = 0; axis < widths.size(); ++axis) {
    for (Dim* width : {&widths[axis].before, &widths[axis].after}) {
      if (!width->is_constant() || width->value() >= 0) continue;
      is_cut = true;
      if (width == &widths[axis].before)
        ranges[axis].begin = -width->value();
      else
        ranges[axis].end = width->value();
      *width = 0;
    }
  }
  return is_cut ? slice(x, ranges) : x;
}

Results pad_rule(NodeCall& call) {
  const Held given(call.value(0));
  Tensor x = given.tensor;
  const bool by_inputs = call.opset() >= 11;
  const std::vector<Dim> pads = by_inputs ? call.sizes(1) : as_sizes(call.integers("pads"));
  const std::vector<int64_t> axes = call.has(3) ? call.axes(call.integers(3), x.rank()) : all_axes(x.rank());
  if (pads.size() != 2 * axes.size()) call.fail(fmt::format("{} widths for {} axes", pads.size(), axes.size()), "two for each axis");
  std::vector<PadWidth> widths(static_cast<size_t>(x.rank()));
  for (size_t i = 0; i < axes.size(); ++i) widths[static_cast<size_t>(axes[i])] = {pads[i], pads[i + axes.size()]};
  widths = given.in_order(widths);
  x = cropped(x, widths);
  const std::string mode = call.text("mode", "constant");
  if (mode == "wrap") return given.like(wrapped_around(x, widths));
  PadOptions options;
  if (mode == "constant") {
    options.value = by_inputs ? (call.has(2) ? reshape(call.tensor(2), {}) : Tensor(0)) : Tensor(call.number("value", 0));
  } else if (mode == "reflect" || mode == "edge") {
    options.mode = mode == "edge" ? PadMode::Edge : PadMode::Reflect;
  } else {
    call.fail(fmt::format("mode is \"{}\"", mode), "constant, edge, reflect or wrap");
  }
  return given.like(pad(x, widths, options));
}

// The middle of each axis, or zeros on both sides of it.
Results center_crop_pad_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const std::vector<Dim> wanted = call.sizes(1);
  const std::vector<int64_t> axes = call.has("axes") ? call.axes(call.integers("axes"), x.rank()) : all_axes(x.rank());
  if (wanted.size() != axes.size()) call.fail(fmt::format("{} sizes for {} axes", wanted.size(), axes.size()), "one per axis");
  std::vector<SliceRange> ranges(static_cast<size_t>(x.rank()));
  std::vector<PadWidth> widths(static_cast<size_t>(x.rank()));
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    const Dim size = x.shape()[static_cast<int>(axis)], kept = min(size, wanted[i]), begin = (size - kept) / 2, missing = wanted[i] - kept;
    ranges[axis] = {.begin = begin, .end = begin + kept};
    widths[axis] = {missing / 2, missing - missing / 2};
  }
  return pad(slice(x, ranges), widths);
}

constexpr RuleEntry entries[] = {
    {"Slice", 1, slice_rule, as_held},
    {"Split", 2, split_rule, as_held},
    {"Pad", 2, pad_rule, as_held},
    {"CenterCropPad", 18, center_crop_pad_rule},
};

}  // namespace

const RuleTable slice_rules = entries;

}  // namespace anyshape::onnx
