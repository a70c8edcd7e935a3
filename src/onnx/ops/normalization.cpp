// ONNX's normalisations of images.
#include "onnx/rule.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <functional>

namespace anyshape::onnx {
namespace {

constexpr RuleOptions on_images{.takes_images = true};

bool can_be_image(const NodeCall& call) { return call.rank(0) >= 3 && call.rank(0) <= 5; }

// The input with its channels last, and the result in the input's form again. Of rank 2 the channels are last as they are.
Results on_channels_last(const NodeCall& call, const std::function<Tensor(const Tensor&)>& body) {
  if (can_be_image(call)) return Value::image(body(call.value(0).image()));
  if (call.rank(0) == 2) return body(call.tensor(0));
  if (call.rank(0) == 1) return squeeze(body(expand_dims(call.tensor(0), -1)), -1);
  return moveaxis(body(moveaxis(call.tensor(0), 1, -1)), -1, 1);
}

Results batch_normalization_rule(NodeCall& call) {
  const double epsilon = call.number("epsilon", 1e-5);
  if (!call.flag("training_mode") && !(call.opset() < 9 && call.integer("spatial", 1) == 0)) {
    const Tensor scale = call.tensor(1) / sqrt(call.tensor(4) + epsilon), shift = call.tensor(2) - call.tensor(3) * scale;
    return on_channels_last(call, [&](const Tensor& x) { return cast(x * scale + shift, x.dtype()); });
  }
  if (call.opset() < 14) call.unsupported("training of a batch normalisation before opset 14");
  const double momentum = call.number("momentum", 0.9);
  Tensor new_mean, new_variance;
  Results results = on_channels_last(call, [&](const Tensor& x) {
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis + 1 < x.rank(); ++axis) axes.push_back(axis);
    const Tensor current = mean(x, {.axes = axes}), variance = mean(square(x - current), {.axes = axes});
    new_mean = call.tensor(3) * momentum + current * (1 - momentum);
    new_variance = call.tensor(4) * momentum + variance * (1 - momentum);
    return (x - current) / sqrt(variance + epsilon) * call.tensor(1) + call.tensor(2);
  });
  results.values.emplace_back(new_mean);
  results.values.emplace_back(new_variance);
  return results;
}

Results instance_normalization_rule(NodeCall& call) {
  const double epsilon = call.number("epsilon", 1e-5);
  return on_channels_last(call, [&](const Tensor& x) {
    std::vector<int64_t> axes;
    for (int64_t axis = 1; axis + 1 < x.rank(); ++axis) axes.push_back(axis);
    const Tensor distance = x - mean(x, {.axes = axes, .keep_dims = true});
    return distance / sqrt(mean(square(distance), {.axes = axes, .keep_dims = true}) + epsilon) * call.tensor(1) + call.tensor(2);
  });
}

// Opset 18 scales groups, opset 21 channels.
Results group_normalization_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const int64_t groups = call.integer("num_groups");
  if (groups < 1) call.fail(fmt::format("num_groups is {}", groups), "at least 1");
  const Shape shape = x.shape();
  if (shape.rank() < 2) call.fail("the input has no channels", "[batch, channels, ...]");
  const Tensor grouped = reshape(x, {shape[0], groups, -1});
  const Tensor distance = grouped - mean(grouped, {.axes = {2}, .keep_dims = true});
  Tensor normal = distance / sqrt(mean(square(distance), {.axes = {2}, .keep_dims = true}) + call.number("epsilon", 1e-5));
  if (call.opset() < 21) return reshape(normal * reshape(call.tensor(1), {groups, 1}) + reshape(call.tensor(2), {groups, 1}), shape);
  Shape channels{shape[1]};
  for (int axis = 2; axis < shape.rank(); ++axis) channels.push_back(1);
  return reshape(normal, shape) * reshape(call.tensor(1), channels) + reshape(call.tensor(2), channels);
}

// Squares are summed over channels that are near.
Results lrn_rule(NodeCall& call) {
  const int64_t size = call.integer("size");
  if (size < 1 || size > 1024) call.fail(fmt::format("size is {}", size), "1 to 1024");
  const double alpha = call.number("alpha", 1e-4), beta = call.number("beta", 0.75), bias = call.number("bias", 1);
  return on_channels_last(call, [&](const Tensor& x) {
    const int64_t before = (size - 1) / 2;
    std::vector<PadWidth> widths(static_cast<size_t>(x.rank()));
    widths.back() = {.before = before, .after = size - 1 - before};
    const Tensor squares = pad(square(x), widths);
    Tensor sum;
    for (int64_t i = 0; i < size; ++i) {
      std::vector<SliceRange> ranges(static_cast<size_t>(x.rank()));
      ranges.back() = {.begin = i, .end = x.shape()[-1] + i};
      const Tensor part = slice(squares, ranges);
      sum = sum.defined() ? sum + part : part;
    }
    return x / pow(bias + alpha / static_cast<double>(size) * sum, beta);
  });
}

constexpr RuleEntry entries[] = {
    {"BatchNormalization", 7, batch_normalization_rule, on_images},
    {"InstanceNormalization", 6, instance_normalization_rule, on_images},
    {"GroupNormalization", 18, group_normalization_rule},
    {"LRN", 1, lrn_rule, on_images},
};

}  // namespace

const RuleTable normalization_rules = entries;

}  // namespace anyshape::onnx
