// A step that trains nothing is refused before it runs, with what was found; one that trains a part says so once.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace anyshape {
namespace {

using test::text_of;

const FitOptions silent{.verbose = Verbose::Silent};

// Warnings while it lives.
class Warnings {
 public:
  Warnings() {
    set_log_sink([this](std::string_view text) { lines.emplace_back(text); });
  }
  ~Warnings() { set_log_sink({}); }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;
  std::vector<std::string> lines;
};

class WithoutChild : public Layer {
 public:
  Tensor call(const Tensor& x, const CallContext&) override { return last_(relu(first_(x))); }

 private:
  Dense first_ = Dense(4), last_ = Dense(1);
};

class WithoutWeight : public Layer {
 public:
  Tensor call(const Tensor& x, const CallContext&) override {
    const Tensor product = matmul(x, kernel_);
    return product + bias_;
  }

 private:
  Variable kernel_ = Variable(ones({3, 1}), {.name = "kernel"}), bias_ = Variable(zeros({1}));
};

class Weightless : public Layer {
 public:
  Tensor call(const Tensor& x, const CallContext&) override { return mean(x, {.axes = {1}, .keep_dims = true}); }
};

class HalfForgotten : public Layer {
 public:
  Tensor call(const Tensor& x, const CallContext&) override { return last_(relu(first_(x))); }

 private:
  Dense first_ = Dense(4), last_ = child(Dense(1));
};

class TrainedWeights : public testing::TestWithParam<bool> {
 protected:
  static bool is_eager() { return GetParam(); }
  static std::string refusal(Model model, const Loss& loss = "mse") {
    model.compile({.optimizer = "adam", .loss = loss, .run_eagerly = is_eager()});
    const std::string text = text_of<ArgumentError>([&] { model.fit(ones({8, 3}), ones({8, 1}), silent); });
    EXPECT_EQ(model.optimizer().iterations().read().item<int64_t>(), 0);
    EXPECT_EQ(text_of<ArgumentError>([&] { model.train_on_batch(ones({8, 3}), ones({8, 1})); }), text);
    return text;
  }
};
INSTANTIATE_TEST_SUITE_P(Modes, TrainedWeights, testing::Bool(),
                         [](const auto& mode) { return std::string(mode.param ? "eager" : "compiled"); });

constexpr const char* cure = " Take layers in with child(), and make weights with weight() in build().";

TEST_P(TrainedWeights, of_layers_that_were_not_taken_in_are_named) {
  const Model model{WithoutChild()};
  model(ones({1, 3}));
  EXPECT_EQ(refusal(model),
            std::string("train_step: no weight of the model gets a gradient: it has no weights; expected at least one. The step reads 4 "
                        "trainable variables that are not the model's: \"kernel\" f32[3, 4], \"bias\" f32[4], \"kernel\" f32[4, 1], "
                        "\"bias\" f32[1].") +
                cure);
}

TEST_P(TrainedWeights, that_are_plain_variables_are_named) {
  EXPECT_EQ(refusal(Model(WithoutWeight())),
            std::string("train_step: no weight of the model gets a gradient: it has no weights; expected at least one. The step reads 2 "
                        "trainable variables that are not the model's: \"kernel\" f32[3, 1], one without name, f32[1].") +
                cure);
}

TEST_P(TrainedWeights, are_needed) {
  EXPECT_EQ(refusal(Model(Weightless())),
            std::string("train_step: no weight of the model gets a gradient: it has no weights; expected at least one.") + cure);
  Sequential frozen(Dense(1));
  frozen.set_trainable(false);
  EXPECT_EQ(refusal(frozen),
            "train_step: no weight of the model gets a gradient: none of its 2 is trainable; expected at least one. Call "
            "set_trainable(true) on the layers to train.");
}

TEST_P(TrainedWeights, a_loss_without_gradient_leaves_them) {
  const std::string wanted =
      "train_step: no weight of the model gets a gradient: the loss does not depend on \"dense/kernel\", \"dense/bias\"; expected a loss "
      "computed from the predictions by ops that have a gradient: argmax, comparisons, casts to integers and stop_gradient have none, and "
      "that of round, floor and sign is 0 everywhere.";
  const std::vector<Loss> losses = {
      [](const Tensor& y, const Tensor& p) { return abs(y - cast(expand_dims(argmax(p, {.axis = -1}), -1), f32)); },
      [](const Tensor& y, const Tensor& p) { return abs(y - cast(cast(p, i32), f32)); },
      [](const Tensor& y, const Tensor& p) { return cast(abs(y - p) > 0.1, f32); },
      [](const Tensor& y, const Tensor&) { return square(y); },
      [](const Tensor& y, const Tensor& p) { return square(y - round(p)); },
      [](const Tensor& y, const Tensor& p) { return abs(floor(p * 2) - ceil(y)); },
      [](const Tensor& y, const Tensor& p) { return relu(1 - y * sign(p)); },
      [](const Tensor& y, const Tensor& p) { return square(trunc(p) - floor_divide(p, 0.5F) + y); },
  };
  for (const Loss& loss : losses) {
    const Sequential model(Dense(1));
    model(ones({1, 3}));
    const std::vector<Tensor> before = model.weights();
    EXPECT_EQ(refusal(model, loss), wanted);
    for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(all_equal(model.weights()[i], before[i]));
  }
}

TEST_P(TrainedWeights, a_penalty_alone_does_not_train) {
  const Sequential model(Dense(1, {.kernel_regularizer = "l2"}));
  const Loss loss = [](const Tensor& y, const Tensor&) { return square(y); };
  EXPECT_NE(refusal(model, loss).find("the loss does not depend on \"dense/kernel\", \"dense/bias\""), std::string::npos);
}

TEST_P(TrainedWeights, without_gradient_are_told_once) {
  const Warnings warnings;
  const Tensor x = input({3});
  const Tensor left = Dense(1, {.name = "left"})(x), right = Dense(1, {.name = "right"})(x);
  Model model(FunctionalOptions{.inputs = {x}, .outputs = {left, right}});
  const Loss ignores = [](const Tensor& y, const Tensor&) { return square(y); };
  model.compile({.optimizer = "sgd", .losses = {"mse", ignores}, .run_eagerly = is_eager()});
  const Tensor y = ones({8, 1});
  model.fit(ones({8, 3}), inputs({y, y}), {.batch_size = 3, .epochs = 2, .verbose = Verbose::Silent});
  model.fit(ones({8, 3}), inputs({y, y}), silent);
  ASSERT_EQ(warnings.lines.size(), 1U);
  EXPECT_EQ(warnings.lines[0],
            "train_step: 2 of 4 trainable weights get no gradient, since the loss does not depend on them: \"right/kernel\", "
            "\"right/bias\".");
}

TEST_P(TrainedWeights, of_one_forgotten_layer_are_told_beside_trained_ones) {
  const Warnings warnings;
  Model model{HalfForgotten()};
  model(ones({1, 3}));
  model.compile({.optimizer = "sgd", .loss = "mse", .run_eagerly = is_eager()});
  model.fit(ones({8, 3}), ones({8, 1}), {.batch_size = 4, .verbose = Verbose::Silent});
  ASSERT_EQ(warnings.lines.size(), 1U);
  EXPECT_EQ(warnings.lines[0],
            std::string("train_step: 2 trainable variables are read by the step and not trained, since the model does not own them: "
                        "\"kernel\" f32[3, 4], \"bias\" f32[4].") +
                cure);
}

TEST_P(TrainedWeights, a_frozen_backbone_is_no_reason_for_a_word) {
  const Warnings warnings;
  Dense backbone(4);
  Sequential model(backbone, Dense(1));
  backbone.set_trainable(false);
  model.compile({.optimizer = "sgd", .loss = "mse", .run_eagerly = is_eager()});
  model.fit(ones({8, 3}), ones({8, 1}), silent);
  EXPECT_TRUE(warnings.lines.empty()) << warnings.lines[0];
}

TEST(OwnStep, of_a_model_without_weights_is_told_once) {
  Model model{WithoutChild()};
  model.compile({.optimizer = sgd(), .step = [](Model& own, Optimizer& optimizer, const Tensor& x, const Tensor& y) {
                   GradientTape tape;
                   const Tensor loss = mean(square(own(x) - y));
                   optimizer.apply(tape.gradient(loss, own.trainable_variables()), own.trainable_variables());
                   return loss;
                 }});
  const Warnings warnings;
  model.fit(ones({8, 3}), ones({8, 1}), {.batch_size = 4, .epochs = 2, .verbose = Verbose::Silent});
  ASSERT_EQ(warnings.lines.size(), 1U);
  EXPECT_EQ(warnings.lines[0], std::string("train_step: the model has no trainable weights for the .step to train.") + cure);
}

TEST(TrainedWeights, have_slots_with_their_paths_in_the_ledger) {
  Model model = Sequential(Dense(4), Dense(1));
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.fit(ones({4, 3}), ones({4, 1}), {.verbose = Verbose::Silent});
  const std::vector<std::string> held = model.train_step().traces()[0].captured;
  for (const char* const slot : {"dense/kernel/momentum: f32[3, 4]", "dense_1/kernel/velocity: f32[4, 1]", "dense_1/bias/momentum: f32[1]"})
    EXPECT_NE(std::ranges::find(held, slot), held.end()) << slot;
}

}  // namespace
}  // namespace anyshape
