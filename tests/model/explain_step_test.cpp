// explain() of a training step: which kernels are forward, gradient and update, and of which layers.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace anyshape::test {
namespace {

// The lines below a heading, up to the next one: kernels of one part of the step.
std::string part_of(const std::string& text, const std::string& heading) {
  std::istringstream lines(text);
  std::string part;
  bool is_inside = false;
  for (std::string line; std::getline(lines, line);) {
    const std::string first = line.substr(line.find_first_not_of(' ') == std::string::npos ? 0 : line.find_first_not_of(' '));
    if (first.starts_with("forward ") || first.starts_with("gradient ") || first.starts_with("update ") || line.empty())
      is_inside = first.starts_with(heading + " ");
    else if (is_inside)
      part += line + "\n";
  }
  return part;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ExplainStep, kernels_name_their_layers) {
  Sequential model(Dense(16, {.activation = "tanh"}), LayerNormalization(), Dense(3));
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  model.fit(random::normal({64, 8}), random::normal({64, 3}), {.batch_size = 32, .verbose = Verbose::Silent});
  const std::string text = model.train_step().explain();
  const std::string forward = part_of(text, "forward"), gradient = part_of(text, "gradient"), update = part_of(text, "update");
  for (const std::string layer : {"sequential/dense ", "sequential/dense_1"}) {
    EXPECT_TRUE(holds(forward, layer)) << layer << "\n" << text;
    EXPECT_TRUE(holds(gradient, layer)) << layer << "\n" << text;
  }
  EXPECT_TRUE(holds(gradient, "sequential/layer_norm")) << text;
  EXPECT_TRUE(holds(forward, "loss mean_squared_error")) << text;
  EXPECT_TRUE(holds(forward, "metric mae")) << text;
  EXPECT_TRUE(holds(update, "sequential/dense/kernel ")) << text;
  EXPECT_TRUE(holds(update, "sequential/layer_norm")) << text;
  EXPECT_FALSE(holds(text, "momentum")) << text;  // slots go with their variables
}

TEST(ExplainStep, a_recurrent_layer_is_a_scan_forward_and_in_the_gradient) {
  Sequential model(LSTM(4), Dense(1));
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(random::normal({32, 5, 2}), random::normal({32, 1}), {.batch_size = 32, .verbose = Verbose::Silent});
  const std::string text = model.train_step().explain();
  EXPECT_TRUE(holds(part_of(text, "forward"), "scan")) << text;
  EXPECT_TRUE(holds(part_of(text, "gradient"), "scan")) << text;
  EXPECT_TRUE(holds(part_of(text, "gradient"), "sequential/lstm")) << text;
}

TEST(ExplainStep, a_deep_model_fits_a_screen) {
  Sequential model;
  for (int i = 0; i < 20; ++i) model.add(Dense(8, {.activation = "relu"}));
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.fit(random::normal({8, 8}), random::normal({8, 8}), {.batch_size = 8, .verbose = Verbose::Silent});
  const std::string text = model.train_step().explain();
  EXPECT_LE(std::ranges::count(text, '\n'), 40) << text;
  EXPECT_TRUE(holds(text, "others")) << text;
  EXPECT_TRUE(holds(part_of(text, "gradient"), "sequential/dense")) << text;
}

struct Residual : Layer {
  Dense wide = child(Dense(8, {.activation = "relu"})), narrow = child(Dense(4));
  LayerNormalization norm = child(LayerNormalization());
  Tensor call(const Tensor& x, const CallContext&) override { return norm(x + narrow(wide(x))); }
};

TEST(ExplainStep, layers_inside_others_go_with_them_where_they_are_many) {
  Sequential model;
  for (int i = 0; i < 6; ++i) model.add(layer(Residual()));
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(random::normal({8, 4}), random::normal({8, 4}), {.batch_size = 8, .verbose = Verbose::Silent});
  const std::string text = model.train_step().explain();
  EXPECT_LE(std::ranges::count(text, '\n'), 40) << text;
  for (const char* const part : {"forward", "gradient"}) {
    for (const char* const block : {"sequential/residual ", "sequential/residual_1 ", "sequential/residual_5 "})
      EXPECT_TRUE(holds(part_of(text, part), block)) << part << block << "\n" << text;
  }
  EXPECT_TRUE(holds(part_of(text, "update"), "sequential/residual, sequ")) << text;  // one kernel for the variables of all
  EXPECT_FALSE(holds(text, "others") || holds(text, "dense")) << text;
}

}  // namespace
}  // namespace anyshape::test
