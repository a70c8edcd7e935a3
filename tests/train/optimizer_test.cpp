// Optimizers beyond the golden numbers: one trace, one set of slots, few ops, and what is refused.
#include "function/tracer.h"
#include "lower/lower.h"
#include "passes/run_passes.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<Variable> six_weights() {
  std::vector<Variable> weights;
  for (const Shape& shape : {Shape{7, 5}, Shape{5}, Shape{5, 5}, Shape{5}, Shape{5, 3}, Shape{3}}) {
    weights.emplace_back(ones(shape), VariableOptions{.name = "w" + std::to_string(weights.size())});
  }
  return weights;
}

struct Cost {
  size_t nodes;
  size_t kernels;
};

// Of a step that does nothing but update six weights.
Cost cost_of(Optimizer optimizer) {
  const std::vector<Variable> weights = six_weights();
  std::vector<TensorSpec> specs;
  for (const Variable& weight : weights) specs.push_back({Dtype::f32, weight.shape(), {}});
  function_detail::Tracer tracer("step", specs, {});
  const function_detail::Trace trace = tracer.run([&](std::span<const Tensor> gradients) -> FunctionResults {
    optimizer.apply({gradients.begin(), gradients.end()}, weights);
    return {};
  });
  Decisions decisions;
  passes::run_passes(*trace.graph, decisions);
  const size_t nodes = trace.graph->nodes().size();
  return {nodes, lower::count_runs(lower::lower(*trace.graph, decisions))};
}

TEST(OptimizerCost, is_few_ops_per_weight) {
  const Cost plain = cost_of(sgd()), momentum = cost_of(sgd({.momentum = 0.9})), adams = cost_of(adam());
  EXPECT_LE(plain.nodes, 6U * 2 + 4) << "rate * gradient, weight - that";
  EXPECT_LE(momentum.nodes, 6U * 5 + 6);
  EXPECT_LE(adams.nodes, 6U * 13 + 20);
  for (const Cost& cost : {plain, momentum, adams}) EXPECT_LE(cost.kernels, 6U + 1) << "one per weight, one for what they share";
  const Cost clipped = cost_of(adam({.global_clipnorm = 1}));
  EXPECT_LE(clipped.nodes, adams.nodes + 6U * 4 + 6);
  EXPECT_LE(clipped.kernels, adams.kernels + 6U + 1) << "a sum per gradient, and what they make together";
}

// d sum(weight^2) / 2.
void descend(Optimizer optimizer, const Variable& weight) { optimizer.apply({weight.read()}, {weight}); }

TEST(Optimizers, as_arguments_are_traced_once_each) {
  const Variable weight(ones({4}), {.name = "weight"});
  auto step = function([&](Optimizer optimizer) { descend(optimizer, weight); }, {.name = "step", .retrace = Retrace::Allow});
  const Optimizer first = adam({.learning_rate = 0.1}), second = sgd({.learning_rate = 0.1});
  for (int i = 0; i < 4; ++i) step(first);
  EXPECT_EQ(step.stats().traces, 1);
  const Optimizer same = first;  // a copy is the same optimizer
  step(same);
  EXPECT_EQ(step.stats().traces, 1);
  EXPECT_EQ(first.iterations().read().item<int64_t>(), 5);
  step(second);
  EXPECT_EQ(step.stats().traces, 2);
  EXPECT_EQ(first.variables().size(), 4U) << "iterations, learning rate and two slots, made once";
}

TEST(Optimizers, take_rates_and_schedules_as_inputs_of_the_step) {
  const Variable weight(ones({1}), {.name = "weight"});
  Optimizer optimizer = sgd({.learning_rate = 0.5});
  auto step = function([&] { descend(optimizer, weight); }, {.name = "step"});
  step();
  EXPECT_FLOAT_EQ(weight.read().item<float>(), 0.5F);
  optimizer.set_learning_rate(1.0);
  EXPECT_EQ(optimizer.learning_rate(), 1.0);
  step();
  EXPECT_FLOAT_EQ(weight.read().item<float>(), 0);
  EXPECT_EQ(step.stats().traces, 1);

  const Variable other(ones({1}), {.name = "other"});
  Optimizer scheduled = sgd({.learning_rate = [](const Tensor& step_number) -> Tensor {
    if (step_number < 2) return 0.5F;  // a plain `if` is a branch of the step
    return 0.0F;
  }});
  auto scheduled_step = function([&] { descend(scheduled, other); }, {.name = "scheduled_step"});
  for (int i = 0; i < 4; ++i) scheduled_step();
  EXPECT_FLOAT_EQ(other.read().item<float>(), 0.25F);
  EXPECT_EQ(scheduled_step.stats().traces, 1);
  EXPECT_EQ(text_of<ArgumentError>([&] { scheduled.set_learning_rate(1); }),
            "sgd: the learning rate is set to 1, but a schedule decides it; expected an optimizer with a number.");
}

TEST(Optimizers, keep_the_dtype_of_every_weight) {
  const Variable wide(ones({2}, {.dtype = Dtype::f64}), {.name = "wide"}), narrow(ones({2}), {.name = "narrow"});
  Optimizer optimizer = adam();
  optimizer.apply({ones({2}), ones({2})}, {wide, narrow});
  EXPECT_NEAR(wide.read().to_vector<double>()[0], 0.999, 1e-6);
  EXPECT_NEAR(narrow.read().to_vector<float>()[0], 0.999, 1e-6);
  for (const Variable& slot : optimizer.variables()) {
    if (slot.name().starts_with("wide/")) {
      EXPECT_EQ(slot.dtype(), Dtype::f64) << slot.name();
    }
  }
  EXPECT_EQ(optimizer.variables()[2].name(), "wide/momentum");
}

TEST(Optimizers, have_state_of_their_own_after_clone) {
  const Variable weight(ones({1}), {.name = "weight"});
  Optimizer optimizer = sgd({.momentum = 0.9});
  descend(optimizer, weight);
  Optimizer fresh = optimizer.clone();
  EXPECT_EQ(fresh.iterations().read().item<int64_t>(), 0);
  EXPECT_EQ(optimizer.variables().size(), 3U);
  EXPECT_EQ(fresh.variables().size(), 2U);
  fresh.build({weight});
  EXPECT_EQ(fresh.variables().size(), 3U);
}

TEST(Optimizers, of_nothing_count_the_step) {
  Optimizer optimizer = adam({.global_clipnorm = 1});
  optimizer.apply({}, {});
  EXPECT_EQ(optimizer.iterations().read().item<int64_t>(), 1);
  const Variable empty(zeros({0, 3}), {.name = "empty"});
  optimizer.apply({zeros({0, 3})}, {empty});
  EXPECT_EQ(optimizer.iterations().read().item<int64_t>(), 2);
}

TEST(Optimizers, refuse_what_does_not_fit_and_change_nothing) {
  const Variable weight(ones({2, 3}), {.name = "weight"}), other(ones({2}), {.name = "other"});
  Optimizer optimizer = adam();
  EXPECT_EQ(text_of<ArgumentError>([&] { optimizer.apply({ones({2, 3})}, {weight, other}); }),
            "adam: got 1 gradients for 2 variables; expected one per variable.");
  EXPECT_EQ(text_of<ShapeError>([&] { optimizer.apply({ones({2}), ones({2})}, {other, weight}); }),
            "adam: gradient 1 is f32[2], its variable \"weight\" [2, 3]; expected equal shapes.");
  EXPECT_EQ(text_of<ShapeError>([&] { optimizer.apply({Tensor()}, {weight}); }),
            "adam: gradient 0 is undefined, its variable \"weight\" [2, 3]; expected equal shapes.");
  const std::string text = text_of<ShapeError>([&] { optimizer.apply({ones({2}), ones({2, 4})}, {other, weight}); });
  EXPECT_TRUE(contains(text, "adam: axis 1 of \"weight\" and its gradient has the sizes 3 and 4")) << text;
  EXPECT_EQ(optimizer.iterations().read().item<int64_t>(), 0);
  EXPECT_TRUE(all_equal(other.read(), ones({2})));
}

TEST(Optimizers, refuse_options_and_names_that_are_none) {
  EXPECT_EQ(text_of<ArgumentError>([] { Optimizer("adma"); }), "optimizer: \"adma\" is no optimizer; expected one of \"adam\", \"adamw\".");
  EXPECT_TRUE(contains(text_of<ArgumentError>([] { sgd({.clipnorm = 1, .clipvalue = 1}); }), "exclude each other"));
  EXPECT_TRUE(contains(text_of<ArgumentError>([] { adam({.clipnorm = -1}); }), "adam: clipnorm is -1; expected 0 or more."));
  EXPECT_TRUE(contains(text_of<ArgumentError>([] { adamw({.beta_1 = 1}); }), "adamw: beta_1 is 1; expected 0 <= beta_1 < 1."));
  EXPECT_TRUE(contains(text_of<ArgumentError>([] { sgd({.momentum = 2}); }), "sgd: momentum is 2"));
  EXPECT_TRUE(contains(text_of<ArgumentError>([] { exponential_decay(0.1, 0, 0.5); }), "exponential_decay: the number of steps is 0"));
  EXPECT_TRUE(contains(text_of<ArgumentError>([] { piecewise_constant_decay({1, 2}, {0.1}); }), "got 1 values for 2 boundaries"));
  EXPECT_TRUE(contains(text_of<ArgumentError>([] { Optimizer().apply({}, {}); }), "optimizer: the handle is empty"));
  EXPECT_EQ(Optimizer("adamw").name(), "adamw");
}

}  // namespace
}  // namespace anyshape::test
