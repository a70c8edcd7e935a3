// Weights of Keras models that tools/keras_weights_to_safetensors.py has turned (tests/goldens/keras): the same layers here give the same.
#include "support/golden.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

std::filesystem::path file(const std::string& name) { return support::goldens_folder() / "keras" / (name + ".safetensors"); }

void expect_equal(Model model, const std::string& name, const LoadOptions& options = {}) {
  const StoredTensors values = load_tensors(file("values"));
  const Tensor &x = values[name + "/x"], &want = values[name + "/y"];
  model(x);  // makes the weights
  const LoadReport report = model.load_weights(file(name), options);
  EXPECT_EQ(report.matched.size(), model.variables().size());
  const Tensor got = model(x);
  ASSERT_TRUE(got.shape().same_as(want.shape())) << to_string(got.shape());
  EXPECT_LT(max(abs(got - want)).item<double>(), 1e-5) << name;
}

TEST(KerasWeights, a_model_of_sequences) {
  expect_equal(Sequential(Embedding(11, 6), Conv1D(8, 3, {.padding = "same", .activation = "relu"}), BatchNormalization({.scale = false}),
                          Bidirectional(LSTM(4, {.return_sequences = true})), GRU(5, {.return_sequences = true, .name = "memory"}),
                          SimpleRNN(5, {.return_sequences = true}), LayerNormalization(), TimeDistributed(Dense(4, {.activation = "tanh"})),
                          Dropout(0.5), GlobalAveragePooling1D(), Dense(3, {.activation = "relu"}), Dense(2, {.name = "head"})),
               "sequence");
}

TEST(KerasWeights, a_model_of_images) {
  expect_equal(
      Sequential(Conv2D(4, 3, {.strides = 2, .padding = "same"}), DepthwiseConv2D(3, {.depth_multiplier = 2}), SeparableConv2D(6, 2),
                 Conv2DTranspose(4, 3, {.strides = 2}), GroupNormalization({.groups = 2}), Flatten(), Dense(3)),
      "pictures");
}

TEST(KerasWeights, a_functional_model_with_one_inside) {
  const Tensor steps = input({5, 8});
  const Tensor met = LayerNormalization()(steps + MultiHeadAttention(2, 4, {.name = "attention"})(steps, steps));
  const Model feed = Sequential(Dense(12, {.activation = "relu"}), Dense(8));
  expect_equal(Model({.inputs = {steps}, .outputs = {LayerNormalization()(feed(met))}}), "encoder", {.names = {{"sequential", "feed"}}});
}

}  // namespace
}  // namespace anyshape::test
