// The table of a model, letter by letter.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

struct LearnedScale : Layer {
  Variable scale;
  void build(const Shape& input) override { scale = weight("scale", {input[-1]}, {.initializer = "ones"}); }
  Tensor call(const Tensor& x, const CallContext&) override { return x * scale; }
};

TEST(Summary, shows_open_sizes_by_name) {
  const Sequential model(LearnedScale(), Dense(8), BatchNormalization(), GlobalAveragePooling1D(), Dense(1));
  model(ones({2, 5, 10}));
  EXPECT_EQ("\n" + model.summary(), R"(
sequential (Sequential)
layer                                               result              parameters
----------------------------------------------------------------------------------
learned_scale (LearnedScale)                        [batch, time, 10]           10
dense (Dense)                                       [batch, time, 8]            88
batch_normalization (BatchNormalization)            [batch, time, 8]            32
global_average_pooling1d (GlobalAveragePooling1D)   [batch, 8]                   0
dense_1 (Dense)                                     [batch, 1]                   9
----------------------------------------------------------------------------------
139 parameters, 556 bytes; 123 of them trainable
)");
}

TEST(Summary, is_the_same_after_fit) {
  Sequential model(LearnedScale(), Dense(1)), other(LearnedScale(), Dense(1));
  model.compile({.optimizer = sgd(), .loss = "mse"});
  model.fit(ones({4, 3}), ones({4, 1}), {.verbose = Verbose::Silent});
  other.build({dynamic, 3});
  EXPECT_EQ(model.summary(), other.summary());
}

TEST(Summary, keeps_sizes_that_a_layer_needs) {
  const Sequential model(Flatten(), Dense(2));
  model(ones({4, 3, 5}));
  EXPECT_NE(model.summary().find("[batch, 15]"), std::string::npos) << model.summary();
}

TEST(Summary, of_ragged_rows) {
  const Sequential model(Embedding(10, 4), GlobalAveragePooling1D());
  model(ragged({{1, 2}, {3}}));
  EXPECT_NE(model.summary().find("[batch, (time), 4]"), std::string::npos) << model.summary();
}

TEST(Summary, says_what_a_functional_layer_is_called_on) {
  const Tensor a = input({4}, {.name = "left"}), b = input({dynamic, 3}, {.name = "right"});
  const Tensor joined = Concatenate()({Dense(2)(a), GlobalMaxPooling1D()(b)});
  const Model model({.inputs = {a, b}, .outputs = {Dense(1)(joined * 2)}, .name = "two_sides"});
  EXPECT_EQ("\n" + model.summary(), R"(
two_sides (Functional)
layer                                       result             parameters   from
-------------------------------------------------------------------------------------------------------
left (input)                                [batch, 4]
right (input)                               [batch, time, 3]
dense (Dense)                               [batch, 2]                 10   left
global_max_pooling1d (GlobalMaxPooling1D)   [batch, 3]                  0   right
concatenate (Concatenate)                   [batch, 5]                  0   dense, global_max_pooling1d
dense_1 (Dense)                             [batch, 1]                  6   multiply
-------------------------------------------------------------------------------------------------------
16 parameters, 64 bytes; 16 of them trainable
)");
}

TEST(Summary, of_nested_and_unbuilt_models) {
  const Sequential model(Sequential(Dense(3), Dense(2)), Dense(1));
  const std::string before = model.summary();
  EXPECT_NE(before.find("Not built yet"), std::string::npos) << before;
  EXPECT_NE(before.find("  dense_1 (Dense)"), std::string::npos) << before;
  model.build({dynamic, 4});
  EXPECT_NE(model.summary().find("  dense_1 (Dense)         [batch, 2]            8"), std::string::npos) << model.summary();
}

}  // namespace
}  // namespace anyshape::test
