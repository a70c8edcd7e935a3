// ONNX's Resize and Upsample: along one axis after the other, each result is made of a few elements with weights that its coordinate says.
#include "onnx/rule.h"
#include "ops/source/size.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace anyshape::onnx {
namespace {

struct Manner {
  std::string mode = "nearest", coordinates = "half_pixel", nearest = "round_prefer_floor";
  double cubic = -0.75, outside_value = 0;
  bool leaves_out = false, smooths = false;
};

struct AxisPlan {
  Dim input, output;
  Tensor scale;  // f32 of rank 0: output for input
  std::optional<double> known_scale;
  double begin = 0, end = 1;  // of the region, with tf_crop_and_resize
};

Tensor as_float(const Dim& size) { return size_tensor(size, Dtype::f32); }

// Where the results lie among the inputs, f32 [output].
Tensor coordinates(const NodeCall& call, const AxisPlan& axis, const Manner& manner) {
  const Tensor i = arange(axis.output, {.dtype = Dtype::f32});
  const Tensor inputs = as_float(axis.input), outputs = as_float(axis.output);
  if (manner.coordinates == "asymmetric") return i / axis.scale;
  if (manner.coordinates == "half_pixel") return (i + 0.5) / axis.scale - 0.5;
  if (manner.coordinates == "pytorch_half_pixel") return where(outputs > 1, (i + 0.5) / axis.scale - 0.5, full({}, 0.0F));
  if (manner.coordinates == "align_corners") {
    const Tensor exact = axis.scale * inputs;  // a cut size is not what the scale says
    return where(exact == 1, full({}, 0.0F), i * (inputs - 1) / (exact - 1));
  }
  if (manner.coordinates == "half_pixel_symmetric") {
    const Tensor exact = axis.scale * inputs, adjustment = outputs / exact;  // a cut size is not what the scale says
    return inputs / 2 * (1 - adjustment) + (i + 0.5) / axis.scale - 0.5;
  }
  if (manner.coordinates == "tf_crop_and_resize") {
    const Tensor several = axis.begin * (inputs - 1) + i * (axis.end - axis.begin) * (inputs - 1) / maximum(outputs - 1, 1);
    return where(outputs > 1, several, 0.5 * (axis.begin + axis.end) * (inputs - 1));
  }
  call.fail(fmt::format("coordinate_transformation_mode is \"{}\"", manner.coordinates), "half_pixel, asymmetric, align_corners, ...");
}

Tensor nearest_index(const NodeCall& call, const Tensor& x, const Manner& manner) {
  if (manner.nearest == "round_prefer_floor") return ceil(x - 0.5);
  if (manner.nearest == "round_prefer_ceil") return floor(x + 0.5);
  if (manner.nearest == "floor") return floor(x);
  if (manner.nearest == "ceil") return ceil(x);
  call.fail(fmt::format("nearest_mode is \"{}\"", manner.nearest), "round_prefer_floor, round_prefer_ceil, floor or ceil");
}

// The kernel at a distance of several elements, [output].
Tensor weight_at(const Tensor& distance, const Manner& manner) {
  const Tensor d = abs(distance);
  if (manner.mode == "linear") return maximum(1 - d, 0);
  const double a = manner.cubic;
  const Tensor near = ((a + 2) * d - (a + 3)) * d * d + 1, far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return where(d <= 1, near, where(d < 2, far, full({}, 0.0F)));
}

Tensor along(const Tensor& weights, int axis, int rank) {
  Shape shape;
  for (int k = 0; k < rank; ++k) shape.push_back(k == axis ? weights.shape()[0] : Dim(1));
  return reshape(weights, shape);
}

Tensor resized_axis(const NodeCall& call, const Tensor& x, int axis, const AxisPlan& plan, const Manner& manner) {
  const Tensor place = coordinates(call, plan, manner), last = as_float(plan.input) - 1;
  const auto elements = [&](const Tensor& index) { return take(x, cast(clip(index, 0, last), Dtype::i64), {.axis = axis}); };
  Tensor result;
  if (manner.mode == "nearest") {
    result = elements(nearest_index(call, place, manner));
  } else {
    // A kernel that smooths is as much wider as the image shrinks.
    double shrinks = 1;
    if (manner.smooths) {
      if (!plan.known_scale) call.unsupported("antialias with a scale that is not a number");
      shrinks = std::min(*plan.known_scale, 1.0);
    }
    const auto reach = static_cast<int64_t>(std::ceil((manner.mode == "linear" ? 1.0 : 2.0) / shrinks));
    if (reach > 64) call.unsupported("antialias that shrinks an image more than 32 times");
    const Tensor first = floor(place);
    Tensor sum, total;
    for (int64_t k = 1 - reach; k <= reach; ++k) {
      const Tensor index = first + k;
      Tensor weight = weight_at((place - index) * shrinks, manner);
      if (manner.leaves_out) weight = where(logical_and(index >= 0, index <= last), weight, full({}, 0.0F));
      const Tensor part = elements(index) * along(weight, axis, x.rank());
      sum = sum.defined() ? sum + part : part;
      total = total.defined() ? total + weight : weight;
    }
    result = manner.leaves_out || manner.smooths ? sum / along(total, axis, x.rank()) : sum;
  }
  if (manner.coordinates != "tf_crop_and_resize") return result;
  const Tensor is_inside = logical_and(place >= 0, place <= last);
  return where(along(is_inside, axis, x.rank()), result, full({}, static_cast<float>(manner.outside_value)));
}

// As many times as a whole number says, each result the element before it: what most networks enlarge by.
bool is_repeat(const AxisPlan& plan, const Manner& manner) {
  if (manner.mode != "nearest" || !plan.known_scale || *plan.known_scale < 1 || *plan.known_scale != std::floor(*plan.known_scale) ||
      *plan.known_scale > 64)
    return false;
  return (manner.coordinates == "asymmetric" && manner.nearest == "floor") ||
         (manner.coordinates == "half_pixel" && manner.nearest.starts_with("round"));
}

Results resized(NodeCall& call, const std::vector<int64_t>& axes, const std::vector<AxisPlan>& plans, const Manner& manner) {
  const Value& value = call.value(0);
  const bool is_image = value.is_image();
  Tensor x = is_image ? value.image() : value.tensor();
  const Dtype dtype = x.dtype();
  const bool computes = manner.mode != "nearest";
  if (computes && dtype != Dtype::f64) x = cast(x, Dtype::f32);
  for (size_t k = 0; k < axes.size(); ++k) {
    const AxisPlan& plan = plans[k];
    const bool is_same = (plan.known_scale == 1.0 || plan.output.same_as(plan.input)) && manner.coordinates != "tf_crop_and_resize";
    if (is_same) continue;
    const auto axis = static_cast<int>(!is_image ? axes[k] : axes[k] == 0 ? 0 : axes[k] == 1 ? x.rank() - 1 : axes[k] - 1);
    x = is_repeat(plan, manner) ? repeat(x, static_cast<int64_t>(*plan.known_scale), {.axis = axis})
                                : resized_axis(call, x, axis, plan, manner);
  }
  if (x.dtype() != dtype) x = cast(is_floating(dtype) ? x : round(x), dtype);
  return is_image ? Value::image(x) : Value(x);
}

std::vector<int64_t> all_axes(int rank) {
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

AxisPlan by_scale(const Dim& input, double scale) {
  const double rounded = std::round(scale);
  Dim output;
  if (scale == rounded) {
    output = input * static_cast<int64_t>(rounded);
  } else if (input.is_constant()) {
    output = static_cast<int64_t>(std::floor(static_cast<double>(static_cast<float>(input.value()) * static_cast<float>(scale))));
  } else {  // a fraction of small numbers, so that sizes stay whole-number expressions
    for (int64_t below = 2; below <= 64; ++below) {
      const double above = scale * static_cast<double>(below);
      if (std::abs(above - std::round(above)) > 1e-5) continue;
      output = input * static_cast<int64_t>(std::round(above)) / below;
      return {.input = input, .output = output, .scale = full({}, static_cast<float>(scale)), .known_scale = scale};
    }
    throw Unsupported(
        fmt::format("onnx: Resize: the scale {} of an open size is no fraction of small numbers, which is not supported.", scale));
  }
  return {.input = input, .output = output, .scale = full({}, static_cast<float>(scale)), .known_scale = scale};
}

AxisPlan by_size(const Dim& input, const Dim& output) {
  AxisPlan plan{.input = input, .output = output, .scale = as_float(output) / as_float(input), .known_scale = std::nullopt};
  if (input.is_constant() && output.is_constant() && input.value() > 0)
    plan.known_scale = static_cast<double>(output.value()) / static_cast<double>(input.value());
  if (output.same_as(input)) plan.known_scale = 1.0;
  return plan;
}

Results resize_rule(NodeCall& call) {
  const bool is_first = call.opset() < 11;  // Resize of opset 10: x, scales, as Upsample's
  Manner manner{.mode = call.text("mode", "nearest"),
                .coordinates = call.text("coordinate_transformation_mode", is_first ? "asymmetric" : "half_pixel"),
                .nearest = call.text("nearest_mode", is_first ? "floor" : "round_prefer_floor"),
                .cubic = call.number("cubic_coeff_a", -0.75),
                .outside_value = call.number("extrapolation_value", 0),
                .leaves_out = call.flag("exclude_outside"),
                .smooths = call.flag("antialias")};
  if (manner.mode != "nearest" && manner.mode != "linear" && manner.mode != "cubic")
    call.fail(fmt::format("mode is \"{}\"", manner.mode), "nearest, linear or cubic");
  const Shape shape = call.shape(0);
  std::vector<int64_t> axes = call.has("axes") ? call.axes(call.integers("axes"), shape.rank()) : all_axes(shape.rank());
  const size_t scales_at = is_first ? 1 : 2;
  const bool has_scales = call.has(scales_at) && call.shape(scales_at).count() != 0;
  std::vector<AxisPlan> plans;
  if (has_scales) {
    const std::vector<double> scales = call.numbers(scales_at);
    if (scales.size() != axes.size()) call.fail(fmt::format("{} scales for {} axes", scales.size(), axes.size()), "one for each");
    for (size_t k = 0; k < axes.size(); ++k) {
      if (!(scales[k] > 0) || scales[k] > 1e6) call.fail(fmt::format("a scale is {}", scales[k]), "scales above 0");
      plans.push_back(by_scale(shape[static_cast<int>(axes[k])], scales[k]));
    }
  } else {
    std::vector<Dim> sizes = call.sizes(3);
    if (sizes.size() != axes.size()) call.fail(fmt::format("{} sizes for {} axes", sizes.size(), axes.size()), "one for each");
    const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
    for (size_t k = 0; k < axes.size(); ++k) plans.push_back(by_size(shape[static_cast<int>(axes[k])], sizes[k]));
    if (policy != "stretch") {
      double scale = policy == "not_larger" ? INFINITY : 0;
      for (const AxisPlan& plan : plans) {
        if (!plan.known_scale) call.unsupported("keep_aspect_ratio_policy with open sizes");
        scale = policy == "not_larger" ? std::min(scale, *plan.known_scale) : std::max(scale, *plan.known_scale);
      }
      for (AxisPlan& plan : plans) {
        plan.output = static_cast<int64_t>(std::floor(scale * static_cast<double>(plan.input.value()) + 0.5));
        plan.scale = full({}, static_cast<float>(scale));
        plan.known_scale = scale;
      }
    }
  }
  if (manner.coordinates == "tf_crop_and_resize") {
    const std::vector<double> region = call.numbers(1);
    if (region.size() != 2 * axes.size()) call.fail("roi has another number of elements", "two for each axis");
    for (size_t k = 0; k < axes.size(); ++k) {
      plans[k].begin = region[k];
      plans[k].end = region[k + axes.size()];
    }
  }
  return resized(call, axes, plans, manner);
}

Results upsample_rule(NodeCall& call) {
  Manner manner{.mode = call.text("mode", "nearest"), .coordinates = "asymmetric", .nearest = "floor"};
  if (manner.mode != "nearest" && manner.mode != "linear") call.fail(fmt::format("mode is \"{}\"", manner.mode), "nearest or linear");
  const Shape shape = call.shape(0);
  const std::vector<double> scales = call.opset() < 9 ? call.numbers("scales") : call.numbers(1);
  if (scales.size() != static_cast<size_t>(shape.rank()))
    call.fail(fmt::format("{} scales for {} axes", scales.size(), shape.rank()), "one for each");
  std::vector<AxisPlan> plans;
  for (int axis = 0; axis < shape.rank(); ++axis) plans.push_back(by_scale(shape[axis], scales[static_cast<size_t>(axis)]));
  return resized(call, all_axes(shape.rank()), plans, manner);
}

constexpr RuleEntry entries[] = {
    {"Resize", 10, resize_rule, {.takes_images = true}},
    {"Upsample", 7, upsample_rule, {.takes_images = true}},
};

}  // namespace

const RuleTable resize_rules = entries;

}  // namespace anyshape::onnx
