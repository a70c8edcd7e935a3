// A metric of the user's own inside fit and evaluate: traced with the step, one per pass, reported by its name.
#include "function/on_threads.h"
#include "support/text_of.h"
#include "train/mean_error.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <array>

namespace anyshape::test {
namespace {

class OwnMetricInFit : public testing::TestWithParam<bool> {
 protected:
  OwnMetricInFit() {
    model_.compile({.optimizer = sgd({.learning_rate = 0}),
                    .loss = "mse",
                    .metrics = {MeanError(), "mae"},
                    .weighted_metrics = {MeanError()},
                    .run_eagerly = GetParam()});
  }
  Sequential model_{Lambda([](const Tensor& x) { return x; }), Dense(1, {.kernel_initializer = "ones"})};
  Tensor x_ = reshape(arange(10, {.dtype = Dtype::f32}), {10, 1}), y_ = zeros({10, 1});
};
INSTANTIATE_TEST_SUITE_P(Modes, OwnMetricInFit, testing::Bool(),
                         [](const auto& mode) { return std::string(mode.param ? "eager" : "compiled"); });

TEST_P(OwnMetricInFit, is_reported_for_training_and_validation) {
  const Tensor weight = cast(x_ > 4.5, Dtype::f32);
  const History history = model_.fit(x_, y_,
                                     {.batch_size = 3,
                                      .epochs = 2,
                                      .verbose = Verbose::Silent,
                                      .validation_data = {.x = x_ + 100.0F, .y = y_},
                                      .sample_weight = reshape(weight, {10})});
  EXPECT_EQ(history["mean_error"], (std::vector<double>{4.5, 4.5})) << "the mean of 0 to 9, in each epoch anew";
  EXPECT_EQ(history["weighted_mean_error"], (std::vector<double>{7, 7})) << "of 5 to 9";
  EXPECT_EQ(history["val_mean_error"], (std::vector<double>{104.5, 104.5}));
  if (!GetParam()) {
    EXPECT_EQ(model_.train_step().stats().traces, 1);
  }
}

TEST_P(OwnMetricInFit, has_sums_of_its_own_in_evaluations_at_the_same_time) {
  std::array<double, thread_count> found{};
  const Model& model = model_;  // a const model evaluates
  on_threads([&](int thread) {
    const Scores scores = model.evaluate(x_ + static_cast<float>(thread), y_, {.batch_size = 2, .verbose = Verbose::Silent});
    found[static_cast<size_t>(thread)] = scores["mean_error"];
  });
  for (int thread = 0; thread < thread_count; ++thread) EXPECT_EQ(found[static_cast<size_t>(thread)], 4.5 + thread);
}

TEST(OwnMetricsOfModels, are_copied_so_that_the_users_object_stays_as_it_is) {
  Metric mine = MeanError();
  mine.update(zeros({1}), full({1}, 7.0F));
  Model first = Sequential(Dense(1)), second = Sequential(Dense(1));
  for (Model model : {first, second}) {
    model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {mine}});
    model.fit(ones({8, 2}), ones({8, 1}), {.verbose = Verbose::Silent});
  }
  EXPECT_EQ(mine.result().item<float>(), 7);
}

class TwoResults : public MeanError {
 public:
  Tensor result() const override { return zeros({2}); }
};

TEST(OwnMetricsOfModels, give_one_number) {
  Sequential model(Dense(1));
  EXPECT_EQ(
      text_of<ArgumentError>([&] { model.compile({.loss = "mse", .metrics = {TwoResults()}}); }),
      "compile: the metric \"mean_error\" has several results; expected one number per epoch. Give it one threshold or an average, or "
      "update it yourself.");
}

}  // namespace
}  // namespace anyshape::test
