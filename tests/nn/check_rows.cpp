// Rows of unequal length three ways: ragged, padded and masked, and one by one. Values and every gradient agree, where it is mathematics.
#include "nn/check_layer.h"
#include "nn/notes.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace anyshape::test {
namespace {

using Lengths = std::vector<int64_t>;

// What a way gives: the result of the real steps (or of the rows, where time is gone), gradients of inputs at real steps, gradients of weights.
struct Outcome {
  Tensor result = {};
  std::vector<Tensor> inputs = {};
  std::vector<Tensor> weights = {};
};

// The rows of a sample, input by input.
struct Rows {
  Lengths lengths;
  std::vector<std::vector<Tensor>> of_input;  // [input][row]: [length, ...]

  Rows(const LayerSample& sample, Lengths given) : lengths(std::move(given)) {
    for (size_t row = 0; row < lengths.size(); ++row) {
      const std::vector<Tensor> inputs = sample.inputs(1, lengths[row], static_cast<int>(row) + 3);
      of_input.resize(inputs.size());
      for (size_t k = 0; k < inputs.size(); ++k) of_input[k].push_back(squeeze(inputs[k], {0}));
    }
  }
  Tensor ragged(size_t input) const { return ragged_from_rows(of_input[input]); }
  int64_t padded_time() const { return *std::ranges::max_element(lengths) + 2; }  // there is always padding

  // The indices of the real steps in [rows * time].
  Tensor real_indices() const {
    std::vector<int64_t> indices;
    for (size_t row = 0; row < lengths.size(); ++row) {
      for (int64_t step = 0; step < lengths[row]; ++step) indices.push_back(static_cast<int64_t>(row) * padded_time() + step);
    }
    const auto count = static_cast<int64_t>(indices.size());
    return tensor(indices, {count});
  }
  Tensor mask() const {
    const auto rows = static_cast<int64_t>(lengths.size());
    return arange(padded_time(), {.dtype = i64}) < reshape(tensor(lengths, {rows}), {rows, 1});
  }
};

Tensor loss_of(const Tensor& result) { return sum(result * numbers(result.shape(), 7)); }

Tensor real_steps(const Rows& rows, const Tensor& padded) {
  Shape flat{padded.shape()[0] * padded.shape()[1]};
  for (int axis = 2; axis < padded.rank(); ++axis) flat.push_back(padded.shape()[axis]);
  return take(reshape(padded, flat), rows.real_indices());
}

std::vector<Tensor> weight_gradients(GradientTape& tape, const Tensor& loss, const AnyLayer& layer) {
  const std::vector<Variable> variables = layer.trainable_variables();
  return variables.empty() ? std::vector<Tensor>() : tape.gradient(loss, variables, {.unreached = Unreached::Zeros});
}

Outcome run_ragged(const AnyLayer& layer, const Rows& rows, bool& keeps_time) {
  GradientTape tape({.persistent = true});
  std::vector<Tensor> values, inputs;
  for (size_t k = 0; k < rows.of_input.size(); ++k) {
    const Tensor ragged = rows.ragged(k);
    values.push_back(ragged.values());
    if (is_real(ragged)) tape.watch(values.back());
    inputs.push_back(k == 0 ? with_rows_of(values.back(), ragged) : with_rows_of(values.back(), inputs[0]));
  }
  const Tensor result = layer(inputs);
  keeps_time = result.is_ragged();
  Outcome outcome{.result = result.values()};
  const Tensor loss = loss_of(outcome.result);
  for (const Tensor& value : values) {
    if (is_real(value)) outcome.inputs.push_back(tape.gradient(loss, value, {.unreached = Unreached::Zeros}));
  }
  outcome.weights = weight_gradients(tape, loss, layer);
  return outcome;
}

Outcome run_padded(const AnyLayer& layer, const Rows& rows, bool keeps_time) {
  GradientTape tape({.persistent = true});
  std::vector<Tensor> dense, inputs;
  for (size_t k = 0; k < rows.of_input.size(); ++k) {
    dense.push_back(to_padded(rows.ragged(k), {.length = rows.padded_time()}));
    if (is_real(dense.back())) tape.watch(dense.back());
    inputs.push_back(nn::with_mask(dense.back(), rows.mask()));
  }
  const Tensor result = layer(inputs);
  Outcome outcome{.result = keeps_time ? real_steps(rows, result) : result};
  const Tensor loss = loss_of(outcome.result);
  for (const Tensor& each : dense) {
    if (!is_real(each)) continue;
    const Tensor gradient = tape.gradient(loss, each, {.unreached = Unreached::Zeros});
    outcome.inputs.push_back(real_steps(rows, gradient));
    EXPECT_EQ(difference(sum(abs(gradient)), sum(abs(outcome.inputs.back()))), "") << "padding has a gradient";
  }
  outcome.weights = weight_gradients(tape, loss, layer);
  return outcome;
}

Outcome run_one_by_one(const AnyLayer& layer, const Rows& rows, bool keeps_time) {
  GradientTape tape({.persistent = true});
  std::vector<Tensor> results;
  for (size_t row = 0; row < rows.lengths.size(); ++row) {
    std::vector<Tensor> inputs;
    for (const std::vector<Tensor>& input : rows.of_input) {
      if (is_real(input[row])) tape.watch(input[row]);
      inputs.push_back(expand_dims(input[row], 0));
    }
    const Tensor result = layer(inputs);
    results.push_back(keeps_time ? squeeze(result, {0}) : result);
  }
  Outcome outcome{.result = concat(results, {.axis = 0})};
  const Tensor loss = loss_of(outcome.result);
  for (const std::vector<Tensor>& input : rows.of_input) {
    if (!is_real(input[0])) continue;
    outcome.inputs.push_back(concat(tape.gradient(loss, input, {.unreached = Unreached::Zeros}), {.axis = 0}));
  }
  outcome.weights = weight_gradients(tape, loss, layer);
  return outcome;
}

void expect_same(const Outcome& got, const Outcome& want, const std::string& how) {
  EXPECT_EQ(difference(got.result, want.result), "") << how << ": result";
  ASSERT_EQ(got.inputs.size(), want.inputs.size());
  for (size_t k = 0; k < got.inputs.size(); ++k)
    EXPECT_EQ(difference(got.inputs[k], want.inputs[k]), "") << how << ": gradient of input " << k;
  ASSERT_EQ(got.weights.size(), want.weights.size());
  for (size_t k = 0; k < got.weights.size(); ++k)
    EXPECT_EQ(difference(got.weights[k], want.weights[k]), "") << how << ": gradient of weight " << k;
}

}  // namespace

void check_rows(const LayerSample& sample) {
  if (!sample.over_time || !sample.no_ragged.empty()) return;
  const AnyLayer layer = built(sample, sample.inputs(2, 3, 1));
  auto traced = function([&](std::vector<Tensor> inputs) { return layer(inputs).values(); }, {.name = sample.layer, .check_frozen = false});
  const Lengths all[] = {{3, 0, 1, 5}, {1}, {4, 4, 4}, {0, 0, 0}, {2, 1, 6}, {0}};
  for (const Lengths& lengths : all) {
    if (std::ranges::any_of(lengths, [&](int64_t length) { return length < sample.least_time; })) continue;
    const Rows rows(sample, lengths);
    std::string text;
    for (const int64_t length : lengths) text += " " + std::to_string(length);
    bool keeps_time = false;
    const Outcome ragged = run_ragged(layer, rows, keeps_time);
    expect_same(ragged, run_one_by_one(layer, rows, keeps_time), "ragged and one by one, lengths" + text);
    expect_same(run_padded(layer, rows, keeps_time), ragged, "padded and ragged, lengths" + text);

    std::vector<Tensor> inputs;
    for (size_t k = 0; k < rows.of_input.size(); ++k) {
      inputs.push_back(k == 0 ? rows.ragged(0) : with_rows_of(rows.ragged(k).values(), inputs[0]));
    }
    EXPECT_EQ(difference(traced(inputs), ragged.result), "") << "traced, lengths" << text;
  }
  EXPECT_EQ(traced.stats().traces, 1) << traced.report();
}

}  // namespace anyshape::test
