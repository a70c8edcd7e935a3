// Evaluations of one model at the same time, by threads, by callbacks of a fit and one inside another: each has the scores of its own data.
#include "function/on_threads.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <array>

namespace anyshape {
namespace {

using test::on_threads;
using test::thread_count;

// Rows of 0 to 6 elements, other ones for each number.
Tensor ragged_rows(int64_t number) {
  std::vector<int64_t> lengths;
  int64_t total = 0;
  for (int64_t row = 0; row < 24; ++row) total += lengths.emplace_back((row * 5 + number * 3) % 7);
  return ragged_from_lengths(random::normal({total, 3}), tensor(lengths, {24}));
}

struct Found {
  double loss, metric;
  bool operator==(const Found&) const = default;
};

Found evaluated(const Model& model, const Tensor& x, const Tensor& y) {
  const Scores scores = model.evaluate(x, y, {.batch_size = 2, .verbose = Verbose::Silent});
  return {scores["loss"], scores["mean_absolute_error"]};
}

class Evaluations : public testing::TestWithParam<bool> {
 protected:
  Evaluations() {
    random::set_seed(11);
    model_.compile({.optimizer = sgd({.learning_rate = 0}), .loss = "mse", .metrics = {mean_absolute_error()}, .run_eagerly = GetParam()});
  }
  Sequential model_{Dense(3)};
};
INSTANTIATE_TEST_SUITE_P(Modes, Evaluations, testing::Bool(),
                         [](const auto& mode) { return std::string(mode.param ? "eager" : "compiled"); });

TEST_P(Evaluations, of_threads_have_their_own_scores) {
  std::array<Tensor, thread_count> data;
  std::array<Found, thread_count> alone{};
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = ragged_rows(static_cast<int64_t>(i));
    alone[i] = evaluated(model_, data[i], data[i] * static_cast<float>(i));
  }
  on_threads([&](int thread) {
    const auto i = static_cast<size_t>(thread);
    for (int round = 0; round < (GetParam() ? 2 : 10); ++round)
      EXPECT_EQ(evaluated(model_, data[i], data[i] * static_cast<float>(i)), alone[i]) << "round " << round;
  });
}

TEST_P(Evaluations, one_inside_another_has_its_own_scores) {
  const Tensor outer = ones({8, 3}), inner = zeros({8, 3});
  const Found outer_alone = evaluated(model_, outer, outer * 5.0f), inner_alone = evaluated(model_, inner, outer * 9.0f);
  const Dataset data = Dataset::from(outer, outer * 5.0f).batch(2).map([&](const Example& example) {
    EXPECT_EQ(evaluated(model_, inner, outer * 9.0f), inner_alone);
    return example;
  });
  const Scores scores = model_.evaluate(data, {.verbose = Verbose::Silent});
  EXPECT_EQ((Found{scores["loss"], scores["mean_absolute_error"]}), outer_alone);
}

// Evaluates other data after every step.
class Looking : public Callback {
 public:
  void on_batch_end(Model& model, int64_t, const Scores&) override { evaluated(model, zeros({8, 3}), full({8, 3}, 9.0f)); }
};

TEST_P(Evaluations, in_a_callback_leave_the_scores_of_the_epoch) {
  const Tensor x = ones({8, 3}), y = full({8, 3}, 5.0f);
  const Found alone = evaluated(model_, x, y);
  const History history = model_.fit(x, y, {.batch_size = 2, .verbose = Verbose::Silent, .callbacks = {Looking()}});
  EXPECT_NEAR(history["mean_absolute_error"][0], alone.metric, 1e-6);
  EXPECT_NEAR(history["loss"][0], alone.loss, 1e-5);
}

}  // namespace
}  // namespace anyshape
