// Samples, numbers, and the checks on one batch: shapes, gradients, masks, saving, training, traces.
#include "nn/check_layer.h"

#include "nn/describe_call.h"
#include "nn/named_weights.h"
#include "nn/notes.h"
#include "shape/evaluate.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace anyshape::test {
namespace {

std::vector<LayerSample>& registry() {
  static std::vector<LayerSample> samples;
  return samples;
}

// A number that depends on every element of the result, on each in its own way.
Tensor weighted(const Tensor& result) { return sum(result * numbers(result.shape(), 99)); }

std::vector<Tensor> call_inputs(const LayerSample& sample, int seed = 1) { return sample.inputs(3, 4, seed); }

}  // namespace

bool register_layer_samples(std::vector<LayerSample> samples) {
  std::ranges::move(samples, std::back_inserter(registry()));
  return true;
}
const std::vector<LayerSample>& layer_samples() { return registry(); }

Tensor numbers(const Shape& shape, int seed) {
  std::vector<double> values(static_cast<size_t>(shape.count().value()));
  for (size_t i = 0; i < values.size(); ++i) {
    const double part = std::fmod(0.618034 * static_cast<double>(i + 1) + 0.2713 * seed, 1.0);
    values[i] = part < 0.5 ? -1.5 + 2.7 * part : 0.15 + 2.7 * (part - 0.5);
  }
  return tensor(values, shape);
}

Tensor ids(const Shape& shape, int64_t count, int seed) {
  std::vector<int32_t> values(static_cast<size_t>(shape.count().value()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>((7 * static_cast<int64_t>(i) + 3 * seed) % count);
  return tensor(values, shape);
}

std::function<std::vector<Tensor>(int64_t, int64_t, int)> steps_of(int64_t features) {
  return [features](int64_t rows, int64_t time, int seed) { return std::vector{numbers({rows, time, features}, seed)}; };
}

std::string difference(const Tensor& got, const Tensor& want, double tolerance) {
  if (to_string(got.shape()) != to_string(want.shape())) return "shape " + to_string(got.shape()) + ", not " + to_string(want.shape());
  const std::vector<double> a = cast(got.values(), f64).to_vector<double>(), b = cast(want.values(), f64).to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i) {
    const bool is_equal =
        a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) || std::abs(a[i] - b[i]) <= tolerance * (1 + std::abs(b[i]));
    if (!is_equal) return "element " + std::to_string(i) + " is " + std::to_string(a[i]) + ", not " + std::to_string(b[i]);
  }
  return "";
}

bool is_real(const Tensor& tensor) { return is_floating(tensor.dtype()); }

AnyLayer built(const LayerSample& sample, const std::vector<Tensor>& inputs) {
  AnyLayer layer = sample.make();
  layer(inputs);
  int seed = 20;
  for (const auto& [name, variable] : nn::named_weights(layer)) {
    const Tensor values = numbers(variable.shape(), ++seed) * 0.5;
    if (variable.trainable()) variable.assign(cast(values, variable.dtype()));
    if (name.ends_with("moving_variance")) variable.assign(square(values) + 0.5);
  }
  return layer;
}

void check_shapes(const LayerSample& sample) {
  const AnyLayer layer = built(sample, call_inputs(sample));
  const Dim batch = dim("batch"), time = dim("time");
  std::vector<TensorSpec> specs;
  for (const Tensor& input : call_inputs(sample)) {
    Shape shape = input.shape();
    shape[0] = batch;
    if (sample.over_time) shape[1] = time;
    specs.push_back({input.dtype(), shape, {}});
  }
  const TensorSpec told = nn::result_specs(layer, specs)[0];
  for (const auto& [rows, steps] : {std::pair<int64_t, int64_t>{3, 4}, {1, 2}, {5, 1}}) {
    if (steps < sample.least_time) continue;
    Bindings values;
    values.set(batch, rows);
    values.set(time, steps);
    const Tensor result = layer(sample.inputs(rows, sample.over_time ? steps : 4, 1));
    EXPECT_EQ(result.dtype(), told.dtype);
    ASSERT_EQ(result.rank(), told.shape.rank());
    for (int axis = 0; axis < result.rank(); ++axis) {
      EXPECT_EQ(result.shape()[axis].value(), evaluate(told.shape[axis], values)) << to_string(told.shape) << ", axis " << axis;
    }
  }
}

namespace {

// Central differences at some elements of a tensor that `loss` is a function of.
void expect_slopes(const Tensor& at, const Tensor& gradient, const std::function<double(const Tensor&)>& loss, const std::string& name) {
  ASSERT_EQ(to_string(gradient.shape()), to_string(at.shape())) << name;
  const std::vector<double> values = at.to_vector<double>(), found = gradient.to_vector<double>();
  const double step = 1e-6;
  const size_t stride = std::max<size_t>(values.size() / 12, 1);
  for (size_t i = 0; i < values.size(); i += stride) {
    std::vector<double> moved = values;
    moved[i] = values[i] + step;
    const double above = loss(tensor(moved, at.shape()));
    moved[i] = values[i] - step;
    const double slope = (above - loss(tensor(moved, at.shape()))) / (2 * step);
    ASSERT_NEAR(found[i], slope, 1e-5 + 1e-3 * std::abs(slope)) << name << ", element " << i;
  }
}

}  // namespace

void check_gradients(const LayerSample& sample) {
  const std::vector<Tensor> inputs = call_inputs(sample);
  const AnyLayer layer = built(sample, inputs);
  GradientTape tape({.persistent = true});
  for (const Tensor& input : inputs) {
    if (is_real(input)) tape.watch(input);
  }
  const Tensor loss = weighted(layer(inputs));
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!is_real(inputs[k])) continue;
    const auto moved = [&](const Tensor& value) {
      std::vector<Tensor> others = inputs;
      others[k] = value;
      return weighted(layer(others)).item<double>();
    };
    expect_slopes(inputs[k], tape.gradient(loss, inputs[k], {.unreached = Unreached::Zeros}), moved, "input " + std::to_string(k));
  }
  for (const Variable& variable : layer.trainable_variables()) {
    const Tensor before = variable.read();
    const auto moved = [&](const Tensor& value) {
      variable.assign(value);
      return weighted(layer(inputs)).item<double>();
    };
    expect_slopes(before, tape.gradient(loss, variable, {.unreached = Unreached::Zeros}), moved, variable.name());
    variable.assign(before);
  }
}

void check_mask(const LayerSample& sample) {
  if (!sample.over_time) return;
  std::vector<Tensor> inputs = call_inputs(sample);
  const AnyLayer layer = built(sample, inputs);
  const Tensor mask = tensor<bool>({{true, true, false, true}, {true, false, false, false}, {true, true, true, true}});
  for (Tensor& input : inputs) input = nn::with_mask(input, mask);
  const Tensor result = nn::mask_of(layer(inputs));
  switch (sample.mask) {
    case MaskFate::Drops: EXPECT_FALSE(result.defined()); break;
    case MaskFate::Passes:
      ASSERT_TRUE(result.defined());
      EXPECT_TRUE(all_equal(result, mask)) << to_string(result);
      break;
    case MaskFate::Makes:
      ASSERT_TRUE(result.defined());
      EXPECT_EQ(to_string(result.shape()), "[3, 4]");
      break;
  }
}

void check_saving(const LayerSample& sample) {
  const std::vector<Tensor> inputs = call_inputs(sample);
  const AnyLayer layer = built(sample, inputs);
  const Tensor wanted = layer(inputs);
  EXPECT_EQ(difference(layer.clone()(inputs), wanted, 0), "") << "a clone";

  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "weights.safetensors";
  Model(layer).save_weights(file);
  const AnyLayer other = sample.make();
  other(inputs);
  const LoadReport report = Model(other).load_weights(file);
  EXPECT_TRUE(report.missing.empty() && report.unexpected.empty() && report.mismatched.empty());
  EXPECT_EQ(difference(other(inputs), wanted, 0), "") << "loaded";
}

void check_training(const LayerSample& sample) {
  const std::vector<Tensor> inputs = call_inputs(sample);
  const AnyLayer layer = built(sample, inputs);
  const auto loss_now = [&](bool training) { return mean(square(layer(inputs, {.training = training}))); };
  Optimizer optimizer = sgd({.learning_rate = 1e-3F});
  auto step = function([&] {
    GradientTape tape;
    const Tensor loss = loss_now(true);
    const std::vector<Variable> variables = layer.trainable_variables();
    if (!variables.empty()) optimizer.apply(tape.gradient(loss, variables, {.unreached = Unreached::Zeros}), variables);
    return loss;
  });
  const double before = loss_now(false).item<double>();
  EXPECT_TRUE(std::isfinite(step().item<double>()));
  if (layer.trainable_variables().empty()) return;
  EXPECT_LT(loss_now(false).item<double>(), before);
}

void check_one_trace(const LayerSample& sample) {
  const AnyLayer layer = built(sample, call_inputs(sample));
  const auto run = [&](const std::vector<Tensor>& inputs) {
    GradientTape tape({.persistent = true});
    std::vector<Tensor> sources;
    for (const Tensor& input : inputs) {
      if (is_real(input)) sources.push_back(input);
    }
    for (const Tensor& source : sources) tape.watch(source);
    const Tensor result = layer(inputs);
    const Tensor loss = sum(square(result));
    std::vector<Tensor> all = {result};
    if (!sources.empty()) std::ranges::copy(tape.gradient(loss, sources, {.unreached = Unreached::Zeros}), std::back_inserter(all));
    const std::vector<Variable> variables = layer.trainable_variables();
    if (!variables.empty()) std::ranges::copy(tape.gradient(loss, variables, {.unreached = Unreached::Zeros}), std::back_inserter(all));
    return all;
  };
  auto traced = function([&](std::vector<Tensor> inputs) { return run(inputs); }, {.name = sample.layer, .check_frozen = false});
  const std::pair<int64_t, int64_t> sizes[] = {{3, 5}, {1, 1}, {0, 3}, {2, 0}, {4, 1}, {1, 7}, {8, 2}, {0, 0}};
  int64_t calls = 0;
  for (const auto& [rows, time] : sizes) {
    if (rows < sample.least_rows || (sample.over_time && time < sample.least_time)) continue;
    const std::vector<Tensor> inputs = sample.inputs(rows, sample.over_time ? time : 4, 2);
    const std::vector<Tensor> got = traced(inputs), want = run(inputs);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(difference(got[i], want[i]), "") << rows << " rows, " << time << " steps, value " << i;
    ++calls;
  }
  EXPECT_GE(calls, 4);
  EXPECT_EQ(traced.stats().traces, 1) << traced.report();
  EXPECT_EQ(traced.stats().compiles, 1);
}

}  // namespace anyshape::test
