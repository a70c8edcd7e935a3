// Movement inside function(): one trace serves every shape, and gives what eager execution gives, values and gradients.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

using Body = std::function<Tensor(const Tensor&)>;

Tensor counting(const Shape& shape) { return reshape(arange(1, shape.count() + 1, {.dtype = f32}), shape); }

std::vector<Tensor> with_gradient(const Body& body, const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  const Tensor y = body(x);
  return {y, tape.gradient(y * y, x)};
}

void expect_one_trace(const Body& body, const std::vector<Shape>& shapes) {
  auto traced = function([&](Tensor x) { return with_gradient(body, x); });
  for (const Shape& shape : shapes) {
    const Tensor x = counting(shape);
    const std::vector<Tensor> expected = with_gradient(body, x), got = traced(x);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(all_equal(got[i], expected[i])) << to_string(shape) << (i == 0 ? " value\n" : " gradient\n") << to_string(got[i]) << "\n"
                                                  << to_string(expected[i]);
    }
  }
  EXPECT_EQ(traced.stats().traces, 1);
  EXPECT_EQ(traced.stats().interpreted_groups, 0);
}

const std::vector<Shape> shapes = {{4, 6}, {1, 2}, {7, 4}, {2, 10}, {0, 2}, {3, 0}, {40, 300}};

TEST(MovementFunctions, cut_with_steps) {
  expect_one_trace([](const Tensor& x) { return slice(x, {{.begin = 1, .step = 2}, {.step = -1}}); }, shapes);
  expect_one_trace([](const Tensor& x) { return slice(x, {{.begin = -2, .end = -7, .step = -3}}); }, shapes);
  expect_one_trace([](const Tensor& x) { return slice(x, {{}, {0, x.shape()[1] / 2, 2}}); }, shapes);
  expect_one_trace([](const Tensor& x) { return flip(x); }, shapes);
  expect_one_trace([](const Tensor& x) { return roll(x, 3, {.axis = 0}); }, shapes);
  expect_one_trace([](const Tensor& x) { return roll(x, x.shape()[1] + 1); }, shapes);
}

TEST(MovementFunctions, split_and_join) {
  expect_one_trace([](const Tensor& x) { return stack({x, x + 1}, {.axis = 1}); }, shapes);
  expect_one_trace([](const Tensor& x) { return split(x, 2, {.axis = 1})[1] * split(x, 2, {.axis = 1})[0]; }, shapes);
  expect_one_trace([](const Tensor& x) { return split(x, {x.shape()[0] / 2})[1]; }, shapes);
  expect_one_trace([](const Tensor& x) { return squeeze(expand_dims(x, 1), {1}); }, shapes);
  expect_one_trace([](const Tensor& x) { return moveaxis(expand_dims(x, 0), 0, 2); }, shapes);
}

TEST(MovementFunctions, surround_and_repeat) {
  expect_one_trace([](const Tensor& x) { return pad(x, {{1, 2}, {x.shape()[0], 0}}, {.value = 3}); }, shapes);
  expect_one_trace([](const Tensor& x) { return pad(x, {{0, 0}, {1, 1}}, {.mode = PadMode::Reflect}); }, {{4, 6}, {1, 2}, {0, 9}});
  expect_one_trace([](const Tensor& x) { return pad(x, {{2, 1}}, {.mode = PadMode::Edge}); }, {{4, 6}, {1, 2}, {9, 1}});
  expect_one_trace([](const Tensor& x) { return tile(x, {2, 3}); }, shapes);
  expect_one_trace([](const Tensor& x) { return repeat(x, x.shape()[0], {.axis = 1}); }, {{4, 6}, {1, 2}, {0, 3}});
}

TEST(MovementFunctions, take_diagonals_and_triangles) {
  expect_one_trace([](const Tensor& x) { return diag(x, {.offset = 1}); }, shapes);
  expect_one_trace([](const Tensor& x) { return diag(reshape(x, {-1}), {.offset = -2}); }, {{4, 6}, {1, 2}, {7, 4}, {0, 2}});
  expect_one_trace([](const Tensor& x) { return tril(x, {.offset = 1}) + triu(x); }, shapes);
  expect_one_trace([](const Tensor& x) { return x * eye(x.shape()[0], {.columns = x.shape()[1], .offset = -1}); }, shapes);
  expect_one_trace([](const Tensor& x) { return x + linspace(0, 1, x.shape()[1]) * ones_like(x); }, shapes);
  expect_one_trace([](const Tensor& x) { return x * meshgrid({arange(x.shape()[1], {.dtype = f32}), zeros({x.shape()[0]})})[0]; }, shapes);
}

TEST(MovementFunctions, name_what_does_not_fit_any_more) {
  auto halves = function([](Tensor x) { return split(x, 2)[0]; }, {.name = "halves"});
  EXPECT_TRUE(halves(ones({6})).shape() == (Shape{3}));
  EXPECT_THROW(halves(ones({7})), ShapeError);
  auto parts = function([](Tensor x) { return unstack(x)[0]; }, {.name = "parts"});
  EXPECT_THROW(parts(ones({2, 3})), TraceError);
}

}  // namespace
}  // namespace anyshape::test
