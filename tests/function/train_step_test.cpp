// A whole training step as one function: one trace and one compile for every batch size, equal to eager and to the interpreter.
#include "function/compile.h"
#include "function/same_bits.h"
#include "function/small_network.h"
#include "runtime/cpu/pool.h"

#include <anyshape/memory.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

using function_detail::ScopedInterpretation;

TEST(TrainStep, serves_every_batch_size_with_one_trace_and_equals_eager_and_the_interpreter) {
  const SmallNetwork compiled, eager, interpreted;
  auto compiled_step = compiled.compiled_step(), interpreted_step = interpreted.compiled_step();
  std::mt19937 host(3);
  for (int64_t batch : {64, 7, 1, 200, 64}) {
    const Tensor x = random_tensor(host, {batch, SmallNetwork::inputs}, f32), label = random_labels(host, batch, SmallNetwork::classes);
    const float got = compiled_step(x, label).item<float>();
    EXPECT_NEAR(got, eager.step(x, label).item<float>(), 1e-5) << "batch " << batch;
    const ScopedInterpretation interpretation;
    EXPECT_NEAR(got, interpreted_step(x, label).item<float>(), 1e-5) << "batch " << batch;
  }
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(all_close(compiled.values()[i], eager.values()[i], {.relative = 1e-4, .absolute = 1e-5}));
    EXPECT_TRUE(all_close(compiled.values()[i], interpreted.values()[i], {.relative = 1e-4, .absolute = 1e-5}));
  }
  const FunctionStats stats = compiled_step.stats();
  EXPECT_EQ(stats.traces, 1);
  EXPECT_EQ(stats.compiles, 1);
  EXPECT_EQ(stats.calls, 5);
  EXPECT_EQ(stats.hits, 4);
  EXPECT_EQ(stats.interpreted_groups, 0);
  EXPECT_EQ(interpreted_step.stats().compiles, 0);
  EXPECT_GT(interpreted_step.stats().interpreted_groups, 0);
}

TEST(TrainStep, without_rows_the_loss_is_nan_and_weights_keep_their_bits) {
  for (const bool interpret : {false, true}) {
    const SmallNetwork traced, eager;
    const std::vector<Tensor> before = traced.values();
    auto step = traced.compiled_step();
    const Tensor x = zeros({0, SmallNetwork::inputs}), label = zeros({0}, {.dtype = i32});
    std::optional<ScopedInterpretation> interpretation;
    if (interpret) interpretation.emplace();
    EXPECT_TRUE(std::isnan(step(x, label).item<float>()));
    EXPECT_TRUE(std::isnan(eager.step(x, label).item<float>()));
    for (size_t i = 0; i < 4; ++i) {
      expect_same_bits(traced.values()[i], before[i]);
      expect_same_bits(eager.values()[i], before[i]);
    }
    GradientTape tape;
    const Tensor loss = eager.loss(x, label);
    for (const Tensor& gradient : tape.gradient(loss, eager.variables())) EXPECT_TRUE(all_equal(gradient, zeros(gradient.shape())));
  }
}

TEST(TrainStep, gives_the_same_bits_for_any_number_of_threads) {
  std::vector<std::vector<Tensor>> results;
  for (int threads : {1, 2, 3, 8}) {
    const runtime::ScopedPool pool(threads);
    const SmallNetwork network;
    auto step = network.compiled_step();
    std::mt19937 host(5);
    std::vector<Tensor> result;
    for (int64_t batch : {64, 7, 1, 2000, 0, 333}) {
      if (batch == 0) continue;
      result.push_back(step(random_tensor(host, {batch, SmallNetwork::inputs}, f32), random_labels(host, batch, SmallNetwork::classes)));
    }
    for (const Tensor& value : network.values()) result.push_back(value);
    results.push_back(std::move(result));
  }
  for (const std::vector<Tensor>& other : results) {
    for (size_t i = 0; i < other.size(); ++i) expect_same_bits(other[i], results[0][i]);
  }
}

TEST(TrainStep, memory_stays_flat_over_a_thousand_batch_sizes) {
  const SmallNetwork network;
  auto step = network.compiled_step();
  std::mt19937 host(7);
  const Tensor all = random_tensor(host, {512, SmallNetwork::inputs}, f32), labels = random_labels(host, 512, SmallNetwork::classes);
  auto run = [&](int64_t batch) { step(slice(all, {{0, batch}}), slice(labels, {{0, batch}})); };
  for (int64_t batch : {512, 1, 300, 512}) run(batch);
  for (int i = 0; i < 50; ++i) run(static_cast<int64_t>(host() % 513));
  const MemoryUse before = memory_use();
  for (int i = 0; i < 1000; ++i) run(static_cast<int64_t>(host() % 513));
  const MemoryUse after = memory_use();
  EXPECT_EQ(step.stats().traces, 1);
  EXPECT_EQ(step.stats().compiles, 1);
  EXPECT_EQ(after.live_bytes, before.live_bytes);
  EXPECT_LE(after.live_bytes + after.cached_bytes, before.live_bytes + before.cached_bytes + (1 << 20));
}

TEST(TrainStep, gradients_agree_with_finite_differences_in_f64) {
  const SmallNetwork network(f64);
  std::mt19937 host(11);
  const Tensor x = random_tensor(host, {6, SmallNetwork::inputs}, f64), label = random_labels(host, 6, SmallNetwork::classes);
  auto gradients = function(
      [&](Tensor x, Tensor label) {
        GradientTape tape;
        return tape.gradient(network.loss(x, label), network.variables());
      },
      {.name = "gradients"});
  const std::vector<Tensor> got = gradients(x, label);
  constexpr double step = 1e-6;
  for (size_t v = 0; v < got.size(); ++v) {
    const Variable variable = network.variables()[v];
    const std::vector<double> values = variable.read().to_vector<double>(), gradient = got[v].to_vector<double>();
    for (size_t i = 0; i < values.size(); i += 1 + values.size() / 17) {
      auto loss_at = [&](double value) {
        std::vector<double> moved = values;
        moved[i] = value;
        variable.assign(tensor(moved, variable.shape()));
        return network.loss(x, label).item<double>();
      };
      const double numeric = (loss_at(values[i] + step) - loss_at(values[i] - step)) / (2 * step);
      EXPECT_NEAR(gradient[i], numeric, 1e-5 + 1e-3 * std::abs(numeric)) << variable.name() << " element " << i;
    }
    variable.assign(tensor(values, variable.shape()));
  }
}

}  // namespace
}  // namespace anyshape::test
