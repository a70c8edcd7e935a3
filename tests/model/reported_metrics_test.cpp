// The names under which metrics are reported, each its own.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape {
namespace {

using Names = std::vector<std::string>;

Tensor twos(const Tensor& target, const Tensor&) { return zeros_like(target) + 2; }

Names names_of(const Scores& scores) {
  Names names;
  for (const auto& each : scores.all()) names.push_back(each.first);
  return names;
}

TEST(ReportedMetrics, a_callable_is_not_the_loss) {
  Model model = Sequential(Dense(1, {.kernel_initializer = "zeros"}));
  model.compile({.optimizer = sgd({.learning_rate = 0}), .loss = "mse", .metrics = {twos, "mae", twos}});
  const History history = model.fit(full({4, 2}, 1.0F), full({4, 1}, 3.0F), {.verbose = Verbose::Silent});
  EXPECT_EQ(history.names(), (Names{"loss", "metric", "mae", "metric_1"}));
  EXPECT_EQ(history["loss"][0], 9);
  EXPECT_EQ(history["metric"][0], 2);
  EXPECT_EQ(history["mae"][0], 3);
}

TEST(ReportedMetrics, equal_names_are_told_apart) {
  Model model = Sequential(Dense(1));
  model.compile({.loss = "mse",
                 .metrics = {"accuracy", binary_accuracy({.threshold = 0.3}), "accuracy", mean_metric(twos, "loss")},
                 .weighted_metrics = {"accuracy", "accuracy", "mae"}});
  const Names expected = {"loss", "accuracy", "binary_accuracy", "accuracy_1", "loss_1", "weighted_accuracy", "weighted_accuracy_1", "mae"};
  EXPECT_EQ(names_of(model.evaluate(ones({2, 2}), ones({2, 1}), {.verbose = Verbose::Silent})), expected);
}

TEST(ReportedMetrics, several_outputs_have_one_each) {
  const Tensor x = input({2});
  Model model(FunctionalOptions{.inputs = {x}, .outputs = {Dense(1, {.name = "a"})(x), Dense(1, {.name = "b"})(x)}});
  model.compile({.loss = "mse", .metrics = {"mae"}, .weighted_metrics = {"mae"}});
  const Names names =
      names_of(model.evaluate(ones({2, 2}), inputs({{"a", ones({2, 1})}, {"b", ones({2, 1})}}), {.verbose = Verbose::Silent}));
  EXPECT_EQ(names, (Names{"loss", "a_loss", "b_loss", "a_mae", "b_mae", "a_weighted_mae", "b_weighted_mae"}));
}

}  // namespace
}  // namespace anyshape
