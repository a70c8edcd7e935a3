// Host values frozen in the steps of fit: they are told, and looking for them changes nothing that is trained or drawn.
#include "base/switches.h"
#include "support/warnings.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <optional>

namespace anyshape::test {
namespace {

// A layer with a weight, a state that each step changes, an added loss and dropped elements.
class Busy : public Layer {
 public:
  void build(const Shape& input) override {
    scale_ = weight("scale", {input[1]});
    seen_ = weight("seen", {}, {.initializer = "zeros", .trainable = false});
  }
  Tensor call(const Tensor& input, const CallContext&) override {
    seen_.assign_add(1.0f);
    add_loss(sum(square(scale_)) * 0.01f);
    return dropout_(input * scale_);
  }

 private:
  Variable scale_, seen_;
  Dropout dropout_ = child(Dropout(0.3));
};

struct Outcome {
  std::vector<double> losses, validation;
  std::vector<std::vector<float>> weights;
  std::vector<float> drawn_next;
  bool operator==(const Outcome&) const = default;
};

Outcome train() {
  random::set_seed(5);
  Sequential model(Dense(4, {.activation = "relu"}), Busy(), Dense(1));
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  const Tensor x = random::normal({12, 3}), y = sum(x, {.axes = {1}, .keep_dims = true});
  const History history = model.fit(x, y, {.batch_size = 4, .epochs = 2, .verbose = Verbose::Silent, .validation_split = 0.25});
  EXPECT_EQ(model.train_step().stats().traces, 1);
  Outcome outcome{history["loss"], history["val_loss"], {}, random::normal({2}).to_vector<float>()};
  for (const Tensor& weight : model.weights()) outcome.weights.push_back(weight.to_vector<float>());
  return outcome;
}

TEST(FrozenStep, the_second_run_leaves_weights_states_losses_and_random_numbers_as_they_were) {
  const Warnings warnings;
  const Outcome checked = train();
  const ScopedWithout once("check_frozen");
  EXPECT_EQ(train(), checked);
  EXPECT_TRUE(warnings.texts().empty()) << warnings.texts()[0];
}

TEST(FrozenStep, a_host_number_of_a_layer_is_told_with_the_step_that_holds_it) {
  const Warnings warnings;
  float host = 0.0f;
  Sequential model(Dense(4), Lambda([&](const Tensor& x) { return x + ++host; }), Dense(1));
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(ones({8, 3}), ones({8, 1}), {.epochs = 1, .verbose = Verbose::Silent});
  ASSERT_EQ(warnings.texts().size(), 1U);
  EXPECT_NE(warnings.texts()[0].find("function \"train_step\": add holds the host number "), std::string::npos) << warnings.texts()[0];
}

}  // namespace
}  // namespace anyshape::test
