// ONNX's normalizations by the elements of one row: of a layer, by mean squares, by a norm, by neighbouring channels.
#include "onnx/rule.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <numeric>

namespace anyshape::onnx {
namespace {

Tensor wide(const Tensor& x) { return x.dtype() == f64 ? x : cast(x, f32); }

std::vector<int64_t> axes_from(int64_t first, int rank) {
  std::vector<int64_t> axes(static_cast<size_t>(rank - first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

struct Normalized {
  Tensor value, mean, inverse_deviation;
};
Normalized normalized(const Tensor& x, const std::vector<int64_t>& axes, double epsilon) {
  const Tensor number = wide(x), center = mean(number, {.axes = axes, .keep_dims = true}), distance = number - center;
  const Tensor inverse = rsqrt(mean(square(distance), {.axes = axes, .keep_dims = true}) + epsilon);
  return {cast(distance * inverse, x.dtype()), center, inverse};
}

Tensor by_mean_squares(const Tensor& x, const std::vector<int64_t>& axes, double epsilon) {
  const Tensor number = wide(x);
  return cast(number * rsqrt(mean(square(number), {.axes = axes, .keep_dims = true}) + epsilon), x.dtype());
}

Results layer_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const auto [value, mean, inverse] = normalized(x, axes_from(call.axis(call.integer("axis", -1), x.rank()), x.rank()), call.number("epsilon", 1e-5F));
  const Tensor scaled = value * call.tensor(1);
  return {call.has(2) ? scaled + call.tensor(2) : scaled, mean, inverse};
}

Results mean_squares_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  return by_mean_squares(x, axes_from(call.axis(call.integer("axis", -1), x.rank()), x.rank()), call.number("epsilon", 1e-5F)) * call.tensor(1);
}

// ONNX Runtime's: the sum of two, normalized along the last axis; the sum itself is the last output.
Tensor with_skip(NodeCall& call, size_t bias) {
  const Tensor total = call.tensor(0) + call.tensor(1);
  return call.has(bias) ? total + call.tensor(bias) : total;
}
Results skip_layer_rule(NodeCall& call) {
  const Tensor total = with_skip(call, 4);
  const auto [value, mean, inverse] = normalized(total, {-1}, call.number("epsilon", 1e-12F));
  const Tensor scaled = value * call.tensor(2);
  return {call.has(3) ? scaled + call.tensor(3) : scaled, mean, inverse, total};
}
Results skip_mean_squares_rule(NodeCall& call) {
  const Tensor total = with_skip(call, 3);
  return {by_mean_squares(total, {-1}, call.number("epsilon", 1e-12F)) * call.tensor(2), Value(), Value(), total};
}

Results norm_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const int64_t order = call.integer("p", 2);
  if (order != 1 && order != 2) call.fail(fmt::format("p is {}", order), "1 or 2");
  const Tensor length = norm(x, {.order = static_cast<double>(order), .axis = call.axis(call.integer("axis", -1), x.rank()), .keep_dims = true});
  return where(length == 0, 0, x / length);
}

// Squares of the channels around each one, added up in a window.
Results local_response_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const int64_t size = call.integer("size");
  if (size < 1 || size > 256) call.unsupported(fmt::format("a window of {} channels", size));
  if (x.rank() < 2) call.fail(fmt::format("its input has rank {}", x.rank()), "[batch, channels, ...]");
  const Tensor squares = pad(square(x), {{}, {(size - 1) / 2, size / 2}});
  Tensor total;
  for (int64_t place = 0; place < size; ++place) {
    const Tensor part = slice(squares, {{}, {.begin = place, .end = x.shape()[1] + place}});
    total = total.defined() ? total + part : part;
  }
  const double alpha = call.number("alpha", 1e-4F), beta = call.number("beta", 0.75), bias = call.number("bias", 1);
  return x / pow(bias + alpha / static_cast<double>(size) * total, beta);
}

Results mean_variance_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const std::vector<int64_t> axes = call.axes(call.integers("axes", {0, 2, 3}), x.rank());
  const Tensor distance = x - mean(x, {.axes = axes, .keep_dims = true});
  return distance / (sqrt(mean(square(distance), {.axes = axes, .keep_dims = true})) + 1e-9);
}

constexpr RuleEntry entries[] = {
    {"LayerNormalization", 1, layer_rule},
    {"RMSNormalization", 1, mean_squares_rule},
    {"SimplifiedLayerNormalization", 1, mean_squares_rule},
    {"LpNormalization", 1, norm_rule},
    {"LRN", 1, local_response_rule},
    {"MeanVarianceNormalization", 9, mean_variance_rule},
    {"LayerNormalization", 1, layer_rule, {}, "com.microsoft"},
    {"SimplifiedLayerNormalization", 1, mean_squares_rule, {}, "com.microsoft"},
    {"SkipLayerNormalization", 1, skip_layer_rule, {}, "com.microsoft"},
    {"SkipSimplifiedLayerNormalization", 1, skip_mean_squares_rule, {}, "com.microsoft"},
};

}  // namespace

const RuleTable layer_normalization_rules = entries;

}  // namespace anyshape::onnx
