// The loss of an epoch is what a metric of the same loss gives, however the rows are cut into batches.
#include "model/epoch_scores.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape {
namespace {

// Rows of up to 6 elements.
Tensor ragged_rows(int64_t rows, int64_t least = 0) {
  std::vector<int64_t> lengths;
  int64_t total = 0;
  for (int64_t row = 0; row < rows; ++row) total += lengths.emplace_back(std::max(least, row * 5 % 7));
  return ragged_from_lengths(random::normal({total, 3}), tensor(lengths, {rows}));
}

class Identity3 : public Layer {  // keeps rows; has a weight, so that it can be fitted
 public:
  void build(const Shape&) override { scale_ = weight("scale", {3}, {.initializer = "ones", .regularizer = l2(0.1)}); }
  Tensor call(const Tensor& x, const CallContext&) override { return x * scale_; }
  bool supports_masking() const override { return true; }

 private:
  Variable scale_;
};

class EpochLoss : public testing::TestWithParam<bool> {
 protected:
  EpochLoss() { random::set_seed(3); }

  struct Curve {
    double loss, metric, val_loss, val_metric, evaluated;
  };
  static Curve curve(Model model, const Data& x, const Data& y, int64_t batch_size) {
    const History history =
        model.fit(x, y, {.batch_size = batch_size, .verbose = Verbose::Silent, .validation_data = {.x = x, .y = y}, .shuffle = false});
    const std::string name = history.names()[1];
    return {history["loss"][0], history[name][0], history["val_loss"][0], history["val_" + name][0],
            model.evaluate(x, y, {.batch_size = batch_size, .verbose = Verbose::Silent})["loss"]};
  }
  static void expect_metric(const Model& model, const Data& x, const Data& y, double extra = 0) {
    for (const int64_t size : {1, 3, 7, 100}) {
      SCOPED_TRACE(size);
      const Curve got = curve(model, x, y, size);
      EXPECT_NEAR(got.loss, got.metric + extra, 1e-5);
      EXPECT_NEAR(got.val_loss, got.val_metric + extra, 1e-5);
      EXPECT_NEAR(got.evaluated, got.val_metric + extra, 1e-5);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Modes, EpochLoss, testing::Bool(),
                         [](const auto& mode) { return std::string(mode.param ? "eager" : "compiled"); });

CompileOptions still(const Loss& loss, bool run_eagerly) {
  return {.optimizer = sgd({.learning_rate = 0}), .loss = loss, .metrics = {Metric(loss)}, .run_eagerly = run_eagerly};
}

TEST_P(EpochLoss, of_ragged_rows_does_not_depend_on_batches) {
  const Tensor x = ragged_rows(17);
  Sequential model(Dense(3));
  model.compile(still("mse", GetParam()));
  expect_metric(model, x, x * 2);
}

TEST_P(EpochLoss, with_penalties_adds_them_once) {
  const Tensor x = ragged_rows(17);
  Model model{Identity3()};
  model.compile(still("mae", GetParam()));
  expect_metric(model, x, x * 2, 0.3);  // 0.1 * (1 + 1 + 1)
}

TEST_P(EpochLoss, of_masked_rows_does_not_depend_on_batches) {
  const Tensor x = to_padded(ragged_rows(17), {.value = 0.0F, .length = 8});
  Sequential model(Masking(), Dense(3));
  model.compile(still("mse", GetParam()));
  expect_metric(model, x, x * 2);
}

TEST_P(EpochLoss, of_missing_targets_does_not_depend_on_batches) {
  const Tensor x = random::normal({17, 3});
  const Tensor y = where(x > 0.3, x, std::numeric_limits<float>::quiet_NaN());
  Sequential model(Dense(3));
  model.compile(still(mse({.ignore_missing = true}), GetParam()));
  expect_metric(model, x, y);
}

TEST_P(EpochLoss, of_several_outputs_weighs_each_by_its_own_positions) {
  const Tensor in = input({dynamic, 3}, {.ragged = true});
  const Tensor each = Dense(2)(in), all = Dense(1)(GlobalAveragePooling1D()(in));
  Model model(FunctionalOptions{.inputs = {in}, .outputs = {each, all}});
  model.compile({.optimizer = sgd({.learning_rate = 0}), .losses = {"mse", "mae"}, .loss_weights = {2, 0.5}, .run_eagerly = GetParam()});
  const Tensor x = ragged_rows(17, 1), values = random::normal({x.values().shape()[0].value(), 2});
  const Data y = inputs({ragged_from_splits(values, x.row_splits()), random::normal({17, 1})});
  const double whole = model.evaluate(x, y, {.batch_size = 17, .verbose = Verbose::Silent})["loss"];
  for (const int64_t size : {1, 4, 16}) {
    EXPECT_NEAR(model.evaluate(x, y, {.batch_size = size, .verbose = Verbose::Silent})["loss"], whole, 1e-5) << size;
    const History history = model.fit(x, y, {.batch_size = size, .verbose = Verbose::Silent});
    EXPECT_NEAR(history["loss"][0], whole, 1e-5) << size;
  }
}

TEST_P(EpochLoss, by_sample_weights_is_their_mean_where_the_reduction_says_so) {
  const Tensor x = random::normal({17, 3}), y = random::normal({17, 3}), weight = random::uniform({17});
  const Loss loss = mse({.reduction = Reduction::MeanWithSampleWeight});
  Sequential model(Dense(3));
  model.compile({.optimizer = sgd({.learning_rate = 0}), .loss = loss, .weighted_metrics = {Metric(loss)}, .run_eagerly = GetParam()});
  for (const int64_t size : {1, 3, 17}) {
    const History history = model.fit(x, y, {.batch_size = size, .verbose = Verbose::Silent, .sample_weight = weight});
    EXPECT_NEAR(history["loss"][0], history[history.names()[1]][0], 1e-5) << size;
  }
}

TEST_P(EpochLoss, of_rows_that_are_all_empty_is_nothing) {
  const Tensor none = ragged_from_lengths(zeros({0, 3}), tensor({0, 0, 0, 0}));
  Sequential model(Dense(3));
  model.compile(still("mse", GetParam()));
  EXPECT_EQ(model.evaluate(none, none, {.batch_size = 2, .verbose = Verbose::Silent})["loss"], 0);
}

TEST(EpochScores, batches_with_and_without_parts_weigh_by_rows) {
  const model::Compiled compiled = model::compiled({.loss = "mse"}, {});
  model::EpochScores scores(compiled);
  scores.add(5, 2);  // 4 and a penalty of 1
  scores.add(0, 6, model::PartValues{.outputs = {{.value = 8, .weight = 10}}, .added = 1});
  EXPECT_DOUBLE_EQ(scores.so_far()["loss"], (2 * 5 + 6 * 9) / 8.0);
}

TEST(EpochScores, what_train_on_batch_left_is_not_taken_by_a_later_fit) {
  Model model = Sequential(Identity3());
  model.compile({.optimizer = sgd({.learning_rate = 0}), .loss = "mse"});
  const Tensor far = ragged_from_lengths(full({4, 3}, 10.0f), tensor({int64_t{1}, int64_t{3}}));
  const double first = model.train_on_batch(far, far * 0.0f)["loss"];
  EXPECT_NEAR(first, 100.3, 1e-4);
  const Tensor near = ones({2, 3});
  EXPECT_NEAR(model.fit(near, near * 0.0f, {.verbose = Verbose::Silent})["loss"][0], 1.3, 1e-5);
}

}  // namespace
}  // namespace anyshape
