// Options that cannot be meant, and callables that are not there, are refused where they are given.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace anyshape {
namespace {

using test::text_of;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class Make>
std::string refusal(Make make) {
  return text_of<ArgumentError>([&] { static_cast<void>(make()); });
}

TEST(Options, of_losses_and_metrics) {
  EXPECT_EQ(refusal([] { return huber({.delta = -1}); }), "huber: delta is -1; expected a positive number.");
  EXPECT_EQ(refusal([] { return huber({.delta = nan}); }), "huber: delta is nan; expected a positive number.");
  EXPECT_EQ(refusal([] { return binary_crossentropy({.label_smoothing = 5}); }),
            "binary_crossentropy: label_smoothing is 5; expected 0 <= label_smoothing <= 1.");
  EXPECT_EQ(refusal([] { return categorical_crossentropy({.label_smoothing = -0.1}); }),
            "categorical_crossentropy: label_smoothing is -0.1; expected 0 <= label_smoothing <= 1.");
  EXPECT_EQ(refusal([] { return binary_focal_crossentropy({.gamma = -2}); }),
            "binary_focal_crossentropy: gamma is -2; expected 0 or more.");
  EXPECT_EQ(refusal([] { return binary_focal_crossentropy({.alpha = 2}); }),
            "binary_focal_crossentropy: alpha is 2; expected 0 <= alpha <= 1.");
  EXPECT_EQ(refusal([] { return binary_accuracy({.threshold = nan}); }), "binary_accuracy: threshold is nan; expected a finite number.");
  EXPECT_NO_THROW(categorical_crossentropy({.label_smoothing = 1}));
}

TEST(Options, of_optimizers) {
  EXPECT_EQ(refusal([] { return sgd({.learning_rate = nan}); }), "sgd: learning_rate is nan; expected 0 or more.");
  EXPECT_EQ(refusal([] { return adam({.learning_rate = -0.1}); }), "adam: learning_rate is -0.1; expected 0 or more.");
  EXPECT_EQ(refusal([] { return adam({.epsilon = -1}); }), "adam: epsilon is -1; expected 0 or more.");
  EXPECT_EQ(refusal([] { return adam({.beta_1 = 1}); }), "adam: beta_1 is 1; expected 0 <= beta_1 < 1.");
  EXPECT_EQ(refusal([] { return adamw({.weight_decay = nan}); }), "adamw: weight_decay is nan; expected 0 or more.");
  EXPECT_EQ(refusal([] { return sgd({.clipnorm = nan}); }), "sgd: clipnorm is nan; expected 0 or more.");
  EXPECT_EQ(refusal([] { return sgd({.momentum = 1.5}); }), "sgd: momentum is 1.5; expected 0 <= momentum <= 1.");
  EXPECT_EQ(refusal([] { return rmsprop({.momentum = -1}); }), "rmsprop: momentum is -1; expected 0 <= momentum <= 1.");
  EXPECT_EQ(refusal([] { return adagrad({.initial_accumulator = -1}); }), "adagrad: initial_accumulator is -1; expected 0 or more.");
  Optimizer optimizer = sgd({.learning_rate = 0.5});
  EXPECT_EQ(text_of<ArgumentError>([&] { optimizer.set_learning_rate(nan); }), "sgd: the learning rate is nan; expected 0 or more.");
  EXPECT_EQ(optimizer.learning_rate(), 0.5);
}

TEST(Options, of_schedules) {
  EXPECT_EQ(refusal([] { return piecewise_constant_decay({10, 5}, {1, 2, 3}); }),
            "piecewise_constant_decay: boundary 1 is 5 after 10; expected ascending boundaries.");
  EXPECT_EQ(refusal([] { return piecewise_constant_decay({5, 5}, {1, 2, 3}); }),
            "piecewise_constant_decay: boundary 1 is 5 after 5; expected ascending boundaries.");
  EXPECT_EQ(refusal([] { return piecewise_constant_decay({5}, {1, nan}); }),
            "piecewise_constant_decay: a value is nan; expected 0 or more.");
  EXPECT_EQ(refusal([] { return exponential_decay(nan, 10, 0.9); }), "exponential_decay: the initial rate is nan; expected 0 or more.");
  EXPECT_EQ(refusal([] { return exponential_decay(1, 0, 0.9); }), "exponential_decay: the number of steps is 0; expected at least 1.");
  EXPECT_EQ(refusal([] { return inverse_time_decay(1, 10, -1); }), "inverse_time_decay: decay_rate is -1; expected 0 or more.");
  EXPECT_EQ(refusal([] { return cosine_decay(1, 10, {.alpha = 2}); }), "cosine_decay: alpha is 2; expected 0 <= alpha <= 1.");
  EXPECT_EQ(refusal([] { return cosine_decay(1, 10, {.warmup_steps = -1}); }), "cosine_decay: warmup_steps is -1; expected at least 0.");
  EXPECT_EQ(refusal([] { return cosine_decay_restarts(1, 10, {.t_mul = 0.5}); }),
            "cosine_decay_restarts: t_mul is 0.5; expected at least 1.");
  EXPECT_EQ(refusal([] { return polynomial_decay(1, 10, {.power = 0}); }), "polynomial_decay: power is 0; expected a positive number.");
}

TEST(Options, of_initializers_and_regularizers) {
  EXPECT_EQ(refusal([] { return random_uniform({.low = 1, .high = 0}); }), "random_uniform: low is 1 and high 0; expected low < high.");
  EXPECT_EQ(refusal([] { return random_normal({.deviation = -1}); }), "random_normal: deviation is -1; expected 0 or more.");
  EXPECT_EQ(refusal([] { return variance_scaling({.scale = nan}); }), "variance_scaling: scale is nan; expected a positive number.");
  EXPECT_EQ(refusal([] { return constant(nan); }), "constant: value is nan; expected a finite number.");
  EXPECT_EQ(refusal([] { return orthogonal({.gain = nan}); }), "orthogonal: gain is nan; expected a finite number.");
  EXPECT_EQ(refusal([] { return l2(-1); }), "l2: strength is -1; expected 0 or more.");
  EXPECT_EQ(refusal([] { return l1_l2(0.1, nan); }), "l1_l2: l2 is nan; expected 0 or more.");
}

TEST(Options, of_layers_and_callbacks) {
  EXPECT_EQ(refusal([] { return Dense(-3); }), "Dense: units is -3; expected at least 1.");
  EXPECT_EQ(refusal([] { return Dropout(nan); }), "Dropout: the rate is nan; expected 0 <= rate < 1.");
  EXPECT_EQ(refusal([] { return BatchNormalization({.momentum = 2}); }), "BatchNormalization: momentum is 2; expected 0 <= momentum <= 1.");
  EXPECT_EQ(refusal([] { return LayerNormalization({.epsilon = -1}); }), "LayerNormalization: epsilon is -1; expected a positive number.");
  EXPECT_EQ(refusal([] { return Rescaling(nan); }), "Rescaling: scale is nan; expected a finite number.");
  EXPECT_EQ(refusal([] { return Masking({.mask_value = nan}); }), "Masking: mask_value is nan; expected a finite number.");
  EXPECT_EQ(refusal([] { return FillMissing({.strategy = Missing::Constant, .value = nan}); }),
            "FillMissing: value is nan; expected a finite number.");
  EXPECT_EQ(refusal([] { return MultiHeadAttention(2, 4, {.dropout = 1}); }),
            "MultiHeadAttention: dropout is 1; expected 0 <= dropout < 1.");
  EXPECT_EQ(refusal([] { return EarlyStopping({.patience = -1}); }), "EarlyStopping: patience is -1; expected at least 0.");
  EXPECT_EQ(refusal([] { return ReduceLROnPlateau({.min_delta = nan}); }), "ReduceLROnPlateau: min_delta is nan; expected 0 or more.");
  Sequential model(Dense(1));
  EXPECT_EQ(text_of<ArgumentError>([&] { model.compile({.loss = "mse", .loss_weights = {nan}}); }),
            "compile: a value of .loss_weights is nan; expected a finite number.");
}

TEST(EmptyCallables, are_refused_where_they_are_given) {
  const std::string tail = " is an empty std::function; expected a callable.";
  const std::function<Tensor(const Tensor&)> unary;
  const std::function<Tensor(const Tensor&, const Tensor&)> binary;
  EXPECT_EQ(refusal([&] { return Loss(binary); }), "loss: the callable" + tail);
  EXPECT_EQ(refusal([&] { return Metric(binary); }), "loss: the callable" + tail);
  EXPECT_EQ(refusal([&] { return mean_metric(binary); }), "mean_metric: the callable" + tail);
  EXPECT_EQ(refusal([&] { return Schedule(unary); }), "schedule: the callable" + tail);
  EXPECT_EQ(refusal([&] { return ActivationFunction(unary); }), "activation: the callable" + tail);
  EXPECT_EQ(refusal([&] { return Regularizer(unary); }), "regularizer: the callable" + tail);
  EXPECT_EQ(refusal([&] { return Initializer(std::function<Tensor(const Shape&, Dtype)>()); }), "initializer: the callable" + tail);
  EXPECT_EQ(refusal([&] { return Lambda(unary); }), "Lambda: the callable" + tail);
  EXPECT_EQ(refusal([&] { return LearningRateScheduler({}); }), "LearningRateScheduler: the schedule" + tail);
  const Dataset data = Dataset::from(ones({3, 2}));
  EXPECT_EQ(refusal([&] { return data.map({}); }), "Dataset::map: the callable" + tail);
  EXPECT_EQ(refusal([&] { return data.filter({}); }), "Dataset::filter: the callable" + tail);
  EXPECT_EQ(refusal([&] { return Dataset::from_generator({}); }), "Dataset::from_generator: make" + tail);
}

TEST(NotANumber, has_no_sign_in_what_is_reported) {
  History history;
  history.append("loss", -nan);
  EXPECT_EQ(history.to_csv(), "epoch,loss\n0,nan\n");
  Scores scores;
  scores.set("loss", -nan);
  EXPECT_FALSE(std::signbit(scores["loss"]));
}

}  // namespace
}  // namespace anyshape
