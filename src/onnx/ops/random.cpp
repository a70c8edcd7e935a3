// ONNX's random numbers, which are the library's own: a seed of a node has no meaning beyond it, and is not looked at.
#include "onnx/rule.h"

#include <anyshape/ops.h>
#include <anyshape/random.h>

#include <fmt/format.h>

namespace anyshape::onnx {
namespace {

constexpr RuleOptions random_numbers{.is_random = true};

Dtype drawn_in(Dtype dtype) { return dtype == f64 ? f64 : f32; }
Shape own_shape(NodeCall& call) { return Shape(call.integers("shape")); }
Dtype dtype_like(NodeCall& call) { return call.dtype("dtype", call.dtype(0)); }

Tensor uniform(NodeCall& call, const Shape& shape, Dtype dtype) {
  return cast(random::uniform(shape, {.low = call.number("low", 0), .high = call.number("high", 1), .dtype = drawn_in(dtype)}), dtype);
}
Tensor normal(NodeCall& call, const Shape& shape, Dtype dtype) {
  return cast(random::normal(shape, {.mean = call.number("mean", 0), .deviation = call.number("scale", 1), .dtype = drawn_in(dtype)}), dtype);
}

Results uniform_rule(NodeCall& call) { return uniform(call, own_shape(call), call.dtype("dtype", f32)); }
Results uniform_like_rule(NodeCall& call) { return uniform(call, call.shape(0), dtype_like(call)); }
Results normal_rule(NodeCall& call) { return normal(call, own_shape(call), call.dtype("dtype", f32)); }
Results normal_like_rule(NodeCall& call) { return normal(call, call.shape(0), dtype_like(call)); }

Results bernoulli_rule(NodeCall& call) {
  const Tensor chance = call.tensor(0);
  const Dtype dtype = drawn_in(chance.dtype());
  return cast(random::uniform(chance.shape(), {.dtype = dtype}) < cast(chance, dtype), dtype_like(call));
}

Results multinomial_rule(NodeCall& call) {
  const Tensor logits = call.tensor(0);
  return cast(random::categorical(logits, call.integer("sample_size", 1)), call.dtype("dtype", i32));
}

// The share is an attribute up to opset 11, where the node tells nothing of training; then an input, and training another one.
Results dropout_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const bool is_training = call.opset() >= 12 && call.has(2) && call.constant(2).item<bool>();
  const double share = call.has(1) ? call.number(1) : 0.5;
  if (!is_training || share == 0) return {call.value(0), ones(x.shape(), {.dtype = b8})};
  if (share < 0 || share >= 1) call.fail(fmt::format("a share of {} is dropped", share), "at least 0, less than 1");
  const Tensor kept = random::bernoulli(x.shape(), {.probability = 1 - share});
  return {where(kept, x / (1 - share), 0), kept};
}

constexpr RuleEntry entries[] = {
    {"RandomUniform", 1, uniform_rule, random_numbers},    {"RandomUniformLike", 1, uniform_like_rule, random_numbers},
    {"RandomNormal", 1, normal_rule, random_numbers},      {"RandomNormalLike", 1, normal_like_rule, random_numbers},
    {"Bernoulli", 15, bernoulli_rule, random_numbers},     {"Multinomial", 7, multinomial_rule, random_numbers},
    {"Dropout", 7, dropout_rule, random_numbers},
};

}  // namespace

const RuleTable random_rules = entries;

}  // namespace anyshape::onnx
