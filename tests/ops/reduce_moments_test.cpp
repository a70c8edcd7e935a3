// Reductions that measure: var, std, norm; and the accuracy of long sums.
#include "autodiff/finite_differences.h"
#include "ops/expect_error.h"
#include "ops/expect_traced.h"

#include <anyshape/error.h>

#include <cmath>
#include <limits>

namespace anyshape {
namespace {

using Floats = std::vector<float>;
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Variance, divides_by_the_count_less_the_correction) {
  const Tensor x = tensor({{1.0F, 2.0F, 3.0F, 4.0F}, {5.0F, 5.0F, 5.0F, 5.0F}});
  EXPECT_EQ(var(x, {.axes = {1}}).to_vector<float>(), (Floats{1.25F, 0}));
  EXPECT_TRUE(all_close(var(x, {.axes = {1}, .correction = 1}), tensor({5.0F / 3, 0.0F})));
  EXPECT_TRUE(all_close(std(x, {.axes = {1}}), tensor({std::sqrt(1.25F), 0.0F})));
  EXPECT_EQ(var(x, {.axes = {0}}).to_vector<float>(), (Floats{4, 2.25F, 1, 0.25F}));
  EXPECT_TRUE(std(x, {.keep_dims = true}).shape() == (Shape{1, 1}));
  EXPECT_EQ(var(tensor({1, 2})).dtype(), f32);
  EXPECT_EQ(var(tensor({1, 2})).item<float>(), 0.25F);
  EXPECT_EQ(std(ones({2}, {.dtype = f64})).dtype(), f64);
}

TEST(Variance, is_nan_without_enough_elements_and_exact_far_from_zero) {
  EXPECT_TRUE(std::isnan(var(zeros({0})).item<float>()));
  EXPECT_TRUE(std::isnan(var(ones({1}), {.correction = 1}).item<float>()));
  EXPECT_EQ(var(ones({1})).item<float>(), 0.0F);
  EXPECT_EQ(var(tensor({1e6F, 1e6F + 1, 1e6F + 2})).item<float>(), 2.0F / 3);
}

TEST(Norm, is_the_sum_the_length_or_the_greatest_size) {
  const Tensor x = tensor({{3.0F, -4.0F}, {0.0F, 0.0F}});
  EXPECT_EQ(norm(x, {.axes = {1}}).to_vector<float>(), (Floats{5, 0}));
  EXPECT_EQ(norm(x, {.order = 1, .axes = {1}}).to_vector<float>(), (Floats{7, 0}));
  EXPECT_EQ(norm(x, {.order = infinity, .axes = {0}}).to_vector<float>(), (Floats{3, 4}));
  EXPECT_EQ(norm(x).item<float>(), 5.0F);
  EXPECT_TRUE(norm(x, {.keep_dims = true}).shape() == (Shape{1, 1}));
  EXPECT_EQ(norm(tensor({3, 4})).dtype(), f32);
  EXPECT_TRUE(std::isnan(norm(tensor({1.0F, std::nanf("")}), {.order = infinity}).item<float>()));
  for (const double order : {1.0, 2.0, infinity})
    EXPECT_EQ(norm(zeros({2, 0}), {.order = order, .axes = {1}}).to_vector<float>(), (Floats{0, 0}));
}

TEST(Moments, have_right_gradients_and_zero_at_the_kink) {
  const auto centred = [](const Shape& shape) { return sample(shape, 3) - 0.9; };
  for (const Axes& axes : {Axes(), Axes{0}, Axes{-1}}) {
    const std::vector<Tensor> x = {centred({3, 4})};
    check_gradients([&](const auto& in) { return var(in[0], {.axes = axes, .correction = 1}); }, x);
    check_gradients([&](const auto& in) { return std(in[0], {.axes = axes, .keep_dims = true}); }, x);
    for (const double order : {1.0, 2.0, infinity}) {
      check_gradients([&](const auto& in) { return norm(in[0], {.order = order, .axes = axes}); }, x);
    }
  }
  check_second_order([](const auto& in) { return var(in[0], {.axes = {1}}); }, {centred({2, 3})});
  check_second_order([](const auto& in) { return norm(in[0], {.axes = {1}}); }, {centred({2, 3})});
  GradientTape tape({.persistent = true});
  const Tensor zero = zeros({3}), same = ones({3});
  tape.watch(zero), tape.watch(same);
  const Tensor length = norm(zero), spread = std(same);
  EXPECT_EQ(tape.gradient(length, zero).to_vector<float>(), (Floats{0, 0, 0}));
  EXPECT_EQ(tape.gradient(spread, same).to_vector<float>(), (Floats{0, 0, 0}));
}

TEST(Moments, traced_once_serve_every_shape) {
  const std::vector<std::vector<Tensor>> calls = {{sample({3, 4}, 1)}, {sample({1, 1}, 2)}, {sample({33, 2}, 3)}, {sample({2, 70}, 4)}};
  for (const int64_t axis : {0, 1}) {
    expect_traced_as_eager([&](const auto& in) { return var(in[0], {.axes = {axis}}); }, calls);
    expect_traced_as_eager([&](const auto& in) { return std(in[0], {.axes = {axis}, .keep_dims = true}); }, calls);
    expect_traced_as_eager([&](const auto& in) { return norm(in[0], {.axes = {axis}}); }, calls);
    expect_traced_as_eager([&](const auto& in) { return norm(in[0], {.order = infinity, .axes = {axis}}); }, calls);
  }
}

TEST(Moments, refuse_wrong_calls) {
  const Tensor x = ones({2, 3});
  expect_error<ShapeError>([&] { var(x, {.axes = {2}}); }, "var: axis 2 is outside the rank 2: x is f32[2, 3]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([&] { std(x, {.axes = {-3}}); }, "std: axis -3 is outside the rank 2: x is f32[2, 3]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([&] { var(x, {.axes = {1, 1}}); },
                           "var: axis 1 is named twice: x is f32[2, 3]; expected every axis at most once.");
  expect_error<ShapeError>([&] { norm(x, {.axes = {0, -2}}); },
                           "norm: axis 0 is named twice: x is f32[2, 3]; expected every axis at most once.");
  expect_error<ArgumentError>([&] { norm(x, {.order = 3}); }, "norm: unknown order 3: x is f32[2, 3]; expected 1, 2 or infinity.");
  expect_error<ArgumentError>([&] { norm(x, {.order = -infinity}); },
                              "norm: unknown order -inf: x is f32[2, 3]; expected 1, 2 or infinity.");
}

// One accumulator would lose about n / 2 roundings; lanes, parts and their tree keep it to a few.
TEST(LongSums, stay_accurate_in_f32) {
  const int64_t count = 1'000'000;
  std::vector<float> values(count);
  double exact = 0;
  for (int64_t i = 0; i < count; ++i) {
    values[i] = 0.1F + static_cast<float>(i % 7) * 0.3F;
    exact += values[i];
  }
  const Tensor x = tensor(values, {count});
  EXPECT_NEAR(sum(x).item<float>() / exact, 1.0, 2e-6);
  EXPECT_NEAR(sum(reshape(x, {1, count}), {.axes = {1}}).to_vector<float>()[0] / exact, 1.0, 2e-6);
  EXPECT_NEAR(sum(reshape(x, {count, 1}), {.axes = {0}}).to_vector<float>()[0] / exact, 1.0, 2e-6);
  EXPECT_NEAR(sum(sum(reshape(x, {count / 10, 10}), {.axes = {0}})).item<float>() / exact, 1.0, 2e-6);
}

// Equal numbers round in the same direction for long: lanes of 10,000 numbers would lose 90 units or more of the 24th bit, runs of 1,024 lose ten.
TEST(LongSums, of_one_part_stay_accurate_in_f32) {
  for (const float value : {0.1F, 0.7F}) {
    const Tensor x = full({3, 10000}, value);
    EXPECT_NEAR(sum(x[0]).item<float>() / (10000.0 * value), 1.0, 20 * 0x1p-24);
    EXPECT_NEAR(sum(x, {.axis = 1}).to_vector<float>()[1] / (10000.0 * value), 1.0, 20 * 0x1p-24);
  }
}

}  // namespace
}  // namespace anyshape
