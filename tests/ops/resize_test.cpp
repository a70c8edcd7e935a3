// Resizing against golden numbers of Keras and closed forms.
#include "support/golden.h"
#include "support/golden_values.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <numeric>

namespace anyshape {
namespace {

using support::GoldenCase;

void expect_golden(const char* name, const std::function<Tensor(const Tensor&)>& f) {
  for (const GoldenCase& golden : support::golden_cases()) {
    if (golden.group != "conv" || golden.name != name) continue;
    const Tensor x = test::to_tensor(golden.inputs["x"]);
    GradientTape tape;
    tape.watch(x);
    const Tensor y = f(x);
    EXPECT_EQ(support::difference(test::to_golden(y), golden.outputs["0"], golden.rtol, golden.atol), "") << name;
    const Tensor dx = tape.gradient(sum(y * test::to_tensor(golden.upstream["0"])), x);
    EXPECT_EQ(support::difference(test::to_golden(dx), golden.gradients["x"], golden.rtol, golden.atol), "") << name;
    return;
  }
  ADD_FAILURE() << "no golden case " << name;
}

TEST(Resize, padding_and_upsampling_agree_with_keras) {
  expect_golden("zero_padding2d", [](const Tensor& x) { return zero_pad(x, {{1, 2}, {0, 1}}); });
  expect_golden("upsampling2d", [](const Tensor& x) { return upsample(x, {2, 3}); });
}

TEST(Resize, bilinear_takes_pixel_centres_and_stays_within_the_outermost_ones) {
  const Tensor x = tensor(std::vector<float>{0, 4}, {1, 1, 2, 1});
  EXPECT_EQ(resize(x, {1, 4}).to_vector<float>(), (std::vector<float>{0, 1, 3, 4}));
  EXPECT_EQ(upsample(x, {1, 2}, Interpolation::Bilinear).to_vector<float>(), (std::vector<float>{0, 1, 3, 4}));
  EXPECT_EQ(resize(x, {1, 1}).to_vector<float>(), (std::vector<float>{2}));
  EXPECT_EQ(resize(x, {3, 2}).to_vector<float>(), (std::vector<float>{0, 4, 0, 4, 0, 4}));
}

TEST(Resize, antialias_lets_every_pixel_count_where_the_image_shrinks) {
  const Tensor x = tensor(std::vector<float>{8, 0, 0, 0, 0, 0, 0, 0}, {1, 1, 8, 1});
  EXPECT_EQ(sum(resize(x, {1, 2})).item<float>(), 0);  // only the pixels around the centres
  EXPECT_GT(resize(x, {1, 2}, {.antialias = true}).to_vector<float>()[0], 1);
  const Tensor linear = resize(x, {1, 16}), smooth = resize(x, {1, 16}, {.antialias = true});
  EXPECT_TRUE(all_close(linear, smooth, {.relative = 1e-5, .absolute = 1e-6})) << "where it grows both are one";
}

TEST(Resize, nearest_keeps_the_dtype_and_takes_the_pixel_under_the_centre) {
  const Tensor x = tensor(std::vector<int32_t>{1, 2, 3}, {1, 1, 3, 1});
  const Tensor y = resize(x, {1, 2}, {.interpolation = Interpolation::Nearest});
  EXPECT_EQ(y.dtype(), i32);
  EXPECT_EQ(y.to_vector<int32_t>(), (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(resize(x, {1, 6}).dtype(), f32);
}

TEST(Resize, sizes_may_be_those_of_another_image) {
  auto onto = function([](Tensor x, Tensor other) { return resize(x, {other.shape()[1], other.shape()[2]}); }, {.name = "onto"});
  for (const int64_t size : {3, 4, 7, 1, 12, 5}) {
    const Tensor x = random::normal({2, size, size + 1, 3}), other = random::normal({1, 2 * size - 1, 6, 1});
    EXPECT_TRUE(all_close(onto(x, other), resize(x, {2 * size - 1, 6}), {.relative = 1e-5, .absolute = 1e-6})) << size;
  }
  EXPECT_EQ(onto.stats().traces, 1);
}

TEST(Resize, crop_is_the_opposite_of_zero_pad) {
  const Tensor x = random::normal({2, 3, 4, 5});
  EXPECT_TRUE(all_equal(crop(zero_pad(x, {{1, 2}, {0, 3}}), {{1, 2}, {0, 3}}), x));
}

}  // namespace
}  // namespace anyshape
