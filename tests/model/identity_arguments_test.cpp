// Losses, metrics and datasets as arguments of functions: known by identity, as models and optimizers are.
#include "support/text_of.h"
#include "support/warnings.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

std::string last_reason(const std::vector<TraceRecord>& traces) { return traces.back().reason; }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string number_of(const Stateful& object) { return "#" + std::to_string(object.identity().id()); }

TEST(IdentityArguments, another_loss_is_another_trace_that_names_both) {
  auto score = function([](const Loss& loss, Tensor y, Tensor p) { return loss(y, p); }, {.name = "score", .retrace = Retrace::Allow});
  const Loss first = mean_squared_error(), second = huber({.delta = 0.5}), same = first;
  const Tensor y = zeros({2, 2}), p = full({2, 2}, 3.0F);
  EXPECT_EQ(score(first, y, p).item<float>(), 9);
  EXPECT_EQ(score(same, zeros({5, 2}), full({5, 2}, 2.0F)).item<float>(), 4);
  EXPECT_EQ(score.stats().traces, 1);
  EXPECT_FLOAT_EQ(score(second, y, p).item<float>(), 0.5F * (3 - 0.25F));
  EXPECT_EQ(score.stats().traces, 2);
  EXPECT_EQ(score.traces().back().cause, Cause::Object);
  EXPECT_TRUE(contains(last_reason(score.traces()), "argument 0 (loss): loss \"mean_squared_error\" " + number_of(first) +
                                                        " became loss \"huber\" " + number_of(second)))
      << last_reason(score.traces());
  EXPECT_EQ(score(first, y, p).item<float>(), 9);
  EXPECT_EQ(score(second, y, p).item<float>(), score(second, y, p).item<float>());
  EXPECT_EQ(score.stats().traces, 2) << "both are found again";
  score(huber({.delta = 0.5}), y, p);
  EXPECT_EQ(score.stats().traces, 3) << "an equal one is another object";
}

TEST(IdentityArguments, a_metric_has_its_own_sums_in_the_trace) {
  auto step = function([](Metric metric, Tensor y, Tensor p) { metric.update(y, p); }, {.name = "step", .retrace = Retrace::Allow});
  const Metric first = mean_absolute_error(), second = Metric("mse");
  for (const int rows : {2, 5, 1}) step(first, zeros({rows, 1}), ones({rows, 1}));
  EXPECT_EQ(step.stats().traces, 1);
  EXPECT_EQ(first.result().item<float>(), 1);
  step(second, zeros({2, 1}), full({2, 1}, 3.0F));
  EXPECT_EQ(second.result().item<float>(), 9);
  EXPECT_EQ(first.result().item<float>(), 1);
  EXPECT_TRUE(contains(last_reason(step.traces()), "argument 0 (metric): metric \"mean_absolute_error\" " + number_of(first) +
                                                       " became metric \"mse\" " + number_of(second)))
      << last_reason(step.traces());
  step(first.clone(), zeros({2, 1}), ones({2, 1}));
  EXPECT_EQ(step.stats().traces, 3) << "a clone is another metric";
}

TEST(IdentityArguments, a_metric_that_makes_its_sums_while_it_is_traced_is_found_again) {
  auto step = function([](Metric& metric, Tensor y, Tensor p) { metric.update(y, p); }, {.name = "step"});
  Metric metric = f1_score();
  const Tensor one_hots = tensor<float>({{1, 0}, {0, 1}});
  const Warnings warnings;
  for (int i = 0; i < 3; ++i) step(metric, one_hots, one_hots);
  EXPECT_EQ(step.stats().traces, 1);
  EXPECT_TRUE(step.traces()[0].frozen.empty());  // the number of classes is the metric's, not the first run's
  EXPECT_TRUE(warnings.texts().empty());
  EXPECT_NEAR(metric.result().item<float>(), 1, 1e-5);
  const Tensor others = ones({2, 6});
  for (const bool is_traced : {false, true}) {
    const std::string text = text_of<ShapeError>([&] { is_traced ? step(metric, others, others) : metric.update(others, others); });
    EXPECT_TRUE(contains(text, " classes; expected 2, as in the batches before. Give each number of classes a metric of its own.")) << text;
  }
}

TEST(IdentityArguments, another_dataset_is_another_trace) {
  auto total = function(
      [](const Dataset& data, Tensor scale) {
        Tensor sum_of_all = zeros({});
        for (const Example& example : data) sum_of_all = sum_of_all + sum(example.x.single());
        return sum_of_all * scale;
      },
      {.name = "total", .retrace = Retrace::Allow});
  const Dataset first = Dataset::from(ones({3, 2})), second = Dataset::from(full({2, 2}, 5.0F)), same = first;
  EXPECT_EQ(total(first, 2.0F).item<float>(), 12);
  EXPECT_EQ(total(same, 3.0F).item<float>(), 18);
  EXPECT_EQ(total.stats().traces, 1);
  EXPECT_EQ(total(second, 1.0F).item<float>(), 20);
  EXPECT_EQ(total.stats().traces, 2);
  EXPECT_TRUE(
      contains(last_reason(total.traces()), "argument 0 (dataset): dataset " + number_of(first) + " became dataset " + number_of(second)))
      << last_reason(total.traces());
}

TEST(IdentityArguments, an_optimizer_is_named_in_the_reason) {
  const Variable weight(ones({1}), {.name = "weight"});
  auto step = function([&](Optimizer optimizer) { optimizer.apply({ones({1})}, {weight}); }, {.name = "step", .retrace = Retrace::Allow});
  const Optimizer first = adam(), second = sgd();
  step(first);
  step(second);
  EXPECT_TRUE(
      contains(last_reason(step.traces()), "optimizer \"adam\" " + number_of(first) + " became optimizer \"sgd\" " + number_of(second)))
      << last_reason(step.traces());
}

}  // namespace
}  // namespace anyshape::test
