// A first call that fails leaves nothing behind, and masks of merges are Keras's.
#include "nn/notes.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>

namespace anyshape::test {
namespace {

TEST(FirstCall, that_fails_leaves_the_model_unbuilt) {
  const Model model = Sequential(Dense(4), GlobalMaxPooling1D());
  EXPECT_THROW(model(ones({5, 10})), ShapeError);  // no time axis
  EXPECT_FALSE(model.is_built());
  EXPECT_THROW(model.parameter_count(), ArgumentError);
  EXPECT_EQ(model(ones({5, 3, 20})).shape(), (Shape{5, 4}));  // other features than the call that failed
  EXPECT_EQ(model.parameter_count(), 20 * 4 + 4);
}

TEST(FirstCall, that_fails_keeps_what_was_built_before) {
  const Dense dense(4);
  dense(ones({2, 10}));
  const Model model = Sequential(dense, GlobalMaxPooling1D());
  EXPECT_THROW(model(ones({5, 10})), ShapeError);
  EXPECT_FALSE(model.is_built());
  EXPECT_TRUE(dense.is_built());
}

// In a process of its own, where nothing has been warmed up before.
TEST(FirstCallDeathTest, of_build_and_no_constructor_starts_a_thread) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const auto threads = [] {
          return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
        };
        const auto before = threads();
        const Model model = Sequential(Dense(4), LSTM(3));
        std::exit(threads() == before ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(Masks, lambda_drops_its_inputs) {
  const Tensor x = Embedding(5, 2, {.mask_zero = true})(reshape(tensor({1, 0}), {1, 2}));
  EXPECT_TRUE(nn::mask_of(x).defined());
  EXPECT_FALSE(nn::mask_of(Lambda([](const Tensor& each) { return each * 2; })(x)).defined());
}

TEST(Masks, a_masked_step_is_a_factor_of_one) {
  const Tensor a = Masking()(reshape(tensor({2.0F, 0.0F, 0.0F}), {1, 3, 1})), b = Masking()(reshape(tensor({5.0F, 7.0F, 0.0F}), {1, 3, 1}));
  const Tensor both = Multiply()({a, b});  // real in: both, the second, none
  EXPECT_EQ(both.to_vector<float>(), (std::vector<float>{10, 7, 0}));
  EXPECT_EQ(cast(nn::mask_of(both), Dtype::i32).to_vector<int32_t>(), (std::vector<int32_t>{1, 1, 0}));
  const Tensor plain = reshape(tensor({3.0F, 3.0F, 3.0F}), {1, 3, 1});
  EXPECT_EQ(Multiply()({a, plain}).to_vector<float>(), (std::vector<float>{6, 3, 3}));
}

TEST(LayerNormalization, takes_one_axis_or_several) {
  const Tensor x = random::normal({2, 3, 4});
  EXPECT_TRUE(all_equal(anyshape::LayerNormalization({.axis = 1})(x), anyshape::LayerNormalization({.axes = {1}})(x)));
  EXPECT_TRUE(all_equal(anyshape::LayerNormalization({.axis = -1})(x), anyshape::LayerNormalization()(x)));
  EXPECT_THROW(anyshape::LayerNormalization({.axes = {1, 2}, .axis = 1}), ArgumentError);
}
TEST(LayerNormalization, without_axes_is_refused) { EXPECT_THROW(anyshape::LayerNormalization({.axes = {}}), ArgumentError); }

}  // namespace
}  // namespace anyshape::test
