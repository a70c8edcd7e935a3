// What single layers promise beside their golden numbers.
#include "nn/notes.h"
#include "support/temporary_folder.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

namespace anyshape::test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(Dense, refuses_no_units) {
  EXPECT_EQ(text_of<ArgumentError>([] { Dense(0); }), "Dense: units is 0; expected at least 1.");
}

TEST(Embedding, takes_ids_of_any_number_type) {
  const Embedding layer(5, 2);
  const Tensor want = layer(tensor({{1, 4}}));
  EXPECT_TRUE(all_equal(layer(tensor<int64_t>({{1, 4}})), want));
  EXPECT_TRUE(all_equal(layer(tensor<uint8_t>({{1, 4}})), want));
  EXPECT_TRUE(all_equal(layer(tensor<float>({{1, 4}})), want));
  EXPECT_EQ(layer(ones({0, 3}, {.dtype = i32})).shape(), (Shape{0, 3, 2}));
}

TEST(Embedding, mask_zero_marks_padding_and_no_ragged_element) {
  const Embedding layer(5, 2, {.mask_zero = true});
  EXPECT_TRUE(all_equal(nn::mask_of(layer(tensor({{1, 0}, {0, 2}}))), tensor<bool>({{true, false}, {false, true}})));
  EXPECT_FALSE(nn::mask_of(layer(ragged({{1, 0}, {2}}))).defined());
}

TEST(Dropout, is_the_identity_but_for_training) {
  const Dropout layer(0.25);
  const Tensor x = ones({100, 100});
  EXPECT_TRUE(all_equal(layer(x), x));
  EXPECT_TRUE(all_equal(Dropout(0)(x, {.training = true}), x));
  const Tensor y = layer(x, {.training = true});
  const double kept = mean(cast(y != 0, f32)).item<double>();
  EXPECT_NEAR(kept, 0.75, 0.02);
  EXPECT_NEAR(max(y).item<double>(), 1 / 0.75, 1e-6);
  EXPECT_FALSE(all_equal(layer(x, {.training = true}), y));
  for (const double rate : {-0.1, 1.0, std::nan("")}) EXPECT_THROW(Dropout{rate}, ArgumentError);
}

TEST(Dropout, draws_the_same_eagerly_and_traced) {
  const Dropout layer(0.5);
  auto traced = function([&](Tensor x) { return layer(x, {.training = true}); });
  for (const Tensor& x : {ones({6, 7}), ragged_from_lengths(ones({9, 2}), tensor({4, 0, 5}))}) {
    const auto with_seed = [&](const auto& call) {
      const random::SeedScope seed(5);
      return call(x).values();
    };
    EXPECT_TRUE(all_equal(with_seed(traced), with_seed([&](const Tensor& in) { return layer(in, {.training = true}); })));
  }
}

TEST(BatchNormalization, counts_real_elements_of_masked_and_ragged_batches) {
  const Tensor rows = ragged_from_lengths(random::normal({5, 3}), tensor({2, 0, 3}));
  const Tensor mask = tensor<bool>({{true, true, false}, {false, false, false}, {true, true, true}});
  const Tensor padded = nn::with_mask(to_padded(rows, {.value = 77.0F}), mask);
  const BatchNormalization layer, other;
  const Tensor got = layer(rows, {.training = true});
  const Tensor filled = other(padded, {.training = true});
  EXPECT_TRUE(all_close(layer.weights()[2], other.weights()[2], {.absolute = 1e-6}));
  EXPECT_TRUE(all_close(layer.weights()[3], other.weights()[3], {.absolute = 1e-6}));
  EXPECT_TRUE(all_close(from_padded(filled, tensor({2, 0, 3})).values(), got.values(), {.absolute = 1e-4}));
  EXPECT_NEAR(sum(abs(mean(got.values(), {.axes = {0}}))).item<double>(), 0, 1e-5);
}

TEST(BatchNormalization, learns_nothing_from_no_elements) {
  const BatchNormalization layer;
  layer(random::normal({4, 3}), {.training = true});
  const std::vector<Tensor> before = layer.weights();
  auto traced = function([&](Tensor x) { return layer(x, {.training = true}); });
  layer(ones({0, 3}), {.training = true});
  traced(ones({0, 3}));
  layer(nn::with_mask(ones({2, 1, 3}), tensor<bool>({{false}, {false}})), {.training = true});
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(all_equal(layer.weights()[i], before[i])) << i;
}

TEST(BatchNormalization, uses_the_moving_statistics_when_frozen) {
  BatchNormalization layer;
  const Tensor x = random::normal({8, 3}) + 5;
  layer(x, {.training = true});
  layer.set_trainable(false);
  const std::vector<Tensor> before = layer.weights();
  EXPECT_TRUE(all_equal(layer(x, {.training = true}), layer(x)));
  EXPECT_TRUE(all_equal(layer.weights()[2], before[2]));
}

TEST(Normalization, uses_what_it_was_adapted_to_and_leaves_missing_numbers_out) {
  Normalization layer;
  EXPECT_NE(text_of<ArgumentError>([&] { layer(ones({1, 2})); }).find("expected adapt(data)"), std::string::npos);
  const Tensor data = tensor<float>({{1, 10}, {3, nan}, {5, 30}});
  layer.adapt(data);
  const Tensor got = layer(tensor<float>({{3, 20}, {5, 30}}));
  EXPECT_TRUE(all_close(got, tensor<float>({{0, 0}, {std::sqrt(1.5F), 1}}), {.absolute = 1e-6}));
  EXPECT_NE(text_of<ShapeError>([&] { layer.adapt(ones({3})); }).find("f32[3]"), std::string::npos);
  EXPECT_THROW(layer.adapt(ones({0, 2})), DataError);
}

TEST(Normalization, is_adapted_by_loaded_weights) {
  Normalization layer, other;
  layer.adapt(tensor<float>({{1, 10}, {3, 20}}));
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "weights.safetensors";
  Model(layer).save_weights(file);
  other.build({dynamic, 2});
  Model(other).load_weights(file);
  EXPECT_TRUE(all_equal(other(ones({1, 2})), layer(ones({1, 2}))));
}

TEST(FillMissing, fills_by_mean_median_and_constant_and_marks_gaps) {
  const Tensor data = tensor<float>({{1, 10}, {2, nan}, {6, 30}, {nan, nan}}), hole = tensor<float>({{nan, 7}, {4, nan}});
  FillMissing means, medians({.strategy = Missing::Median}), fives({.strategy = Missing::Constant, .value = 5, .add_indicator = true});
  means.adapt(data);
  medians.adapt(data);
  EXPECT_TRUE(all_close(means(hole), tensor<float>({{3, 7}, {4, 20}})));
  EXPECT_TRUE(all_close(medians(hole), tensor<float>({{2, 7}, {4, 20}})));
  EXPECT_TRUE(all_equal(fives(hole), tensor<float>({{5, 7, 1, 0}, {4, 5, 0, 1}})));
  EXPECT_TRUE(means.accepts_missing());
  EXPECT_TRUE(Sequential(means, Dense(1)).accepts_missing());
}

TEST(Rescaling, makes_floats_of_integers) {
  EXPECT_TRUE(all_close(Rescaling(1.0 / 255, -0.5)(tensor<uint8_t>({{0, 255}})), tensor<float>({{-0.5F, 0.5F}})));
}

TEST(Shapes, flatten_and_reshape_keep_the_rows) {
  EXPECT_EQ(Flatten()(ones({3})).shape(), (Shape{3, 1}));
  EXPECT_EQ(Flatten()(ones({0, 2, 3})).shape(), (Shape{0, 6}));
  EXPECT_EQ(Reshape({3, -1})(ones({2, 6})).shape(), (Shape{2, 3, 2}));
  EXPECT_EQ(Reshape({-1, 6})(ones({0, 6})).shape(), (Shape{0, 1, 6}));
  EXPECT_THROW(Reshape({4})(ones({2, 6})), ShapeError);
  EXPECT_EQ(text_of<ArgumentError>([] { Reshape({-1, -1}); }),
            "Reshape: the target is [-1, -1]; expected sizes of at least 0, one of them -1 at most.");
}

TEST(Merge, masks_are_kerass) {
  const Tensor first = tensor<bool>({{true, false, false}}), second = tensor<bool>({{false, true, false}});
  const Tensor a = nn::with_mask(ones({1, 3, 2}), first), b = nn::with_mask(ones({1, 3, 2}), second), bare = ones({1, 3, 2});
  const Tensor either = tensor<bool>({{true, true, false}});
  EXPECT_TRUE(all_equal(nn::mask_of(Add()({a, b})), either));
  EXPECT_TRUE(all_equal(nn::mask_of(Multiply()({a, b})), either));
  EXPECT_FALSE(nn::mask_of(Add()({a, bare})).defined());
  EXPECT_TRUE(all_equal(nn::mask_of(Concatenate()({a, b})), either));
  EXPECT_TRUE(all_equal(nn::mask_of(Concatenate()({a, bare})), tensor<bool>({{true, true, true}})));
  EXPECT_TRUE(all_equal(nn::mask_of(Concatenate({.axis = 1})({a, bare})), tensor<bool>({{true, false, false, true, true, true}})));
  EXPECT_NE(text_of<ArgumentError>([&] { Add()(a); }).find("expected at least two"), std::string::npos);
}

TEST(Pooling, of_no_real_step) {
  const Tensor nothing = nn::with_mask(ones({1, 2, 1}), tensor<bool>({{false, false}}));
  EXPECT_TRUE(std::isnan(GlobalAveragePooling1D()(nothing).item<double>()));
  EXPECT_EQ(GlobalMaxPooling1D()(nothing).item<float>(), std::numeric_limits<float>::lowest());
  EXPECT_EQ(GlobalMaxPooling1D()(ones({1, 0, 1})).item<float>(), std::numeric_limits<float>::lowest());
  EXPECT_NE(text_of<ShapeError>([] { GlobalAveragePooling1D()(ones({2, 3})); }).find("expected [batch, time, features]"),
            std::string::npos);
}

TEST(Layers, regularizers_and_added_losses_join_the_loss) {
  struct Sparse : Layer {
    Tensor call(const Tensor& x, const CallContext&) override {
      add_loss(sum(abs(x)));
      return x;
    }
  };
  Sequential model(Dense(1, {.use_bias = false, .kernel_initializer = "ones", .kernel_regularizer = l2(0.5)}), layer(Sparse()));
  model.compile({.optimizer = sgd(), .loss = "mse"});
  const Tensor x = tensor<float>({{1, 2}}), y = tensor<float>({{3}});
  EXPECT_NEAR(model.evaluate(x, y, {.verbose = Verbose::Silent})["loss"], 0 + 0.5 * 2 + 3, 1e-5);
}

TEST(Layers, weights_have_the_dtype_of_the_layer) {
  const Dense layer(2, {.dtype = f64});
  const Tensor y = layer(ones({1, 3}));
  EXPECT_EQ(y.dtype(), f64);
  EXPECT_EQ(layer.variables()[0].dtype(), f64);
}

}  // namespace
}  // namespace anyshape::test
