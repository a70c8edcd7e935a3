// Reductions along one axis: `.axis` beside `.axes`.
#include "ops/expect_error.h"

#include <anyshape/anyshape.h>

namespace anyshape {
namespace {

using Floats = std::vector<float>;

Tensor counting(const Shape& shape) { return reshape(arange(shape.count(), {.dtype = f32}), shape); }

TEST(ReduceAxis, axis_is_the_one_of_axes) {
  const Tensor x = counting({2, 3, 4}) - 10;
  for (const int64_t axis : {0, 1, 2, -1}) {
    EXPECT_TRUE(all_equal(sum(x, {.axis = axis}), sum(x, {.axes = {axis}})));
    EXPECT_TRUE(all_equal(prod(x, {.axis = axis}), prod(x, {.axes = {axis}})));
    EXPECT_TRUE(all_equal(max(x, {.axis = axis}), max(x, {.axes = {axis}})));
    EXPECT_TRUE(all_equal(min(x, {.axis = axis}), min(x, {.axes = {axis}})));
    EXPECT_TRUE(all_equal(mean(x, {.axis = axis, .keep_dims = true}), mean(x, {.axes = {axis}, .keep_dims = true})));
    EXPECT_TRUE(all_equal(any(x, {.axis = axis}), any(x, {.axes = {axis}})));
    EXPECT_TRUE(all_equal(all(x, {.axis = axis}), all(x, {.axes = {axis}})));
    EXPECT_TRUE(all_equal(count_nonzero(x, {.axis = axis}), count_nonzero(x, {.axes = {axis}})));
    EXPECT_TRUE(all_equal(var(x, {.axis = axis, .correction = 1}), var(x, {.axes = {axis}, .correction = 1})));
    EXPECT_TRUE(all_equal(std(x, {.axis = axis}), std(x, {.axes = {axis}})));
    EXPECT_TRUE(all_equal(norm(x, {.order = 1, .axis = axis}), norm(x, {.order = 1, .axes = {axis}})));
    EXPECT_TRUE(all_equal(logsumexp(x, {.axis = axis}), logsumexp(x, {.axes = {axis}})));
  }
  EXPECT_EQ(sum(counting({2, 3}), {.axis = 1}).to_vector<float>(), (Floats{3, 12}));
  EXPECT_TRUE(all_equal(sum(x > 0, {.axis = 1}), sum(x > 0, {.axes = {1}}))) << "b8";
  EXPECT_EQ(sum(ragged({{1.F, 2.F}, {3.F}}), {.axis = 1}).to_vector<float>(), (Floats{3, 3}));
}

TEST(ReduceAxis, axis_beside_axes_is_refused) {
  const Tensor x = ones({2, 3});
  const auto text = [](const std::string& op) {
    return op + ": axis = 1 beside axes: x is f32[2, 3]; expected one of them: axis for one, axes for several.";
  };
  expect_error<ArgumentError>([&] { sum(x, {.axes = {0}, .axis = 1}); }, text("sum"));
  expect_error<ArgumentError>([&] { mean(x, {.axes = {0}, .axis = 1}); }, text("mean"));
  expect_error<ArgumentError>([&] { max(x, {.axes = {0}, .axis = 1}); }, text("max"));
  expect_error<ArgumentError>([&] { all(x, {.axes = {0}, .axis = 1}); }, text("all"));
  expect_error<ArgumentError>([&] { count_nonzero(x, {.axes = {0}, .axis = 1}); }, text("count_nonzero"));
  expect_error<ArgumentError>([&] { var(x, {.axes = {0}, .axis = 1}); }, text("var"));
  expect_error<ArgumentError>([&] { std(x, {.axes = {0}, .axis = 1}); }, text("std"));
  expect_error<ArgumentError>([&] { norm(x, {.axes = {0}, .axis = 1}); }, text("norm"));
  expect_error<ArgumentError>([&] { logsumexp(x, {.axes = {0}, .axis = 1}); }, text("logsumexp"));
}

}  // namespace
}  // namespace anyshape
