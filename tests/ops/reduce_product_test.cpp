// Products and running sums: prod, cumsum, cumprod, with zeros in the data.
#include "autodiff/finite_differences.h"
#include "ops/expect_error.h"
#include "ops/expect_traced.h"

#include <anyshape/error.h>

#include <cmath>
#include <limits>
#include <random>

namespace anyshape {
namespace {

using Doubles = std::vector<double>;
using Floats = std::vector<float>;
using Integers = std::vector<int32_t>;

// As sample(), with the elements at these indices made zero.
Tensor with_zeros(const Shape& shape, const std::vector<size_t>& indices) {
  Doubles values = sample(shape, 4).to_vector<double>();
  for (size_t index : indices) values[index] = 0;
  return tensor(values, shape);
}

TEST(Prod, multiplies_along_axes_wraps_and_is_one_of_nothing) {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(prod(x).item<int32_t>(), 720);
  EXPECT_EQ(prod(x, {.axes = {0}}).to_vector<int32_t>(), (Integers{4, 10, 18}));
  EXPECT_EQ(prod(x, {.axes = {1}, .keep_dims = true}).to_vector<int32_t>(), (Integers{6, 120}));
  EXPECT_EQ(prod(tensor({1 << 20, 1 << 20})).item<int32_t>(), 0);
  EXPECT_EQ(prod(cast(tensor({1, 1}), b8)).dtype(), i32);
  EXPECT_EQ(prod(zeros({2, 0}), {.axes = {1}}).to_vector<float>(), (Floats{1, 1}));
  EXPECT_TRUE(all_close(prod(sample({3, 2, 4}, 1), {.axes = {0, 2}}), prod(prod(sample({3, 2, 4}, 1), {.axes = {2}}), {.axes = {0}})));
}

TEST(Prod, has_right_gradients_with_no_one_and_more_zeros) {
  const auto all_axes = [](const std::vector<Tensor>& in) { return prod(in[0]); };
  const auto last = [](const std::vector<Tensor>& in) { return prod(in[0], {.axes = {-1}}); };
  const auto outer = [](const std::vector<Tensor>& in) { return prod(in[0], {.axes = {0, 2}, .keep_dims = true}); };
  for (const std::vector<size_t>& indices : {std::vector<size_t>{}, {1}, {1, 2}, {0, 5, 6, 7}}) {
    const std::vector<Tensor> x = {with_zeros({2, 2, 3}, indices)};
    check_gradients(all_axes, x);
    check_gradients(last, x);
    check_gradients(outer, x);
    check_second_order(last, {with_zeros({2, 4}, indices.size() == 4 ? std::vector<size_t>{0, 5, 6} : indices)});
  }
  GradientTape tape;
  const Tensor x = tensor({2.0F, 0.0F, 3.0F});
  tape.watch(x);
  EXPECT_EQ(tape.gradient(prod(x), x).to_vector<float>(), (Floats{0, 6, 0}));
}

TEST(Cumulate, runs_forwards_backwards_with_and_without_the_element) {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(cumsum(x).to_vector<int32_t>(), (Integers{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(cumsum(x, {.axis = 0}).to_vector<int32_t>(), (Integers{1, 2, 3, 5, 7, 9}));
  EXPECT_EQ(cumsum(x, {.reverse = true}).to_vector<int32_t>(), (Integers{6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(cumsum(x, {.axis = 0, .reverse = true}).to_vector<int32_t>(), (Integers{5, 7, 9, 4, 5, 6}));
  EXPECT_EQ(cumsum(x, {.exclusive = true}).to_vector<int32_t>(), (Integers{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(cumsum(x, {.axis = 0, .exclusive = true}).to_vector<int32_t>(), (Integers{0, 0, 0, 1, 2, 3}));
  EXPECT_EQ(cumsum(x, {.reverse = true, .exclusive = true}).to_vector<int32_t>(), (Integers{5, 3, 0, 11, 6, 0}));
  EXPECT_EQ(cumprod(x).to_vector<int32_t>(), (Integers{1, 2, 6, 4, 20, 120}));
  EXPECT_EQ(cumprod(x, {.axis = 0, .reverse = true}).to_vector<int32_t>(), (Integers{4, 10, 18, 4, 5, 6}));
  EXPECT_EQ(cumprod(x, {.reverse = true, .exclusive = true}).to_vector<int32_t>(), (Integers{6, 3, 1, 30, 6, 1}));
}

TEST(Cumulate, takes_empty_axes_dtypes_and_signed_zeros) {
  EXPECT_TRUE(cumsum(zeros({2, 0})).shape() == (Shape{2, 0}));
  EXPECT_TRUE(cumprod(zeros({0, 3}), {.axis = 0}).shape() == (Shape{0, 3}));
  EXPECT_EQ(cumsum(cast(tensor({1, 0, 1}), b8)).to_vector<int32_t>(), (Integers{1, 1, 2}));
  EXPECT_EQ(cumsum(tensor({std::numeric_limits<int32_t>::max(), 1})).to_vector<int32_t>()[1], std::numeric_limits<int32_t>::min());
  EXPECT_EQ(cumsum(ones({3}, {.dtype = f64})).to_vector<double>(), (Doubles{1, 2, 3}));
  EXPECT_TRUE(std::signbit(cumsum(tensor({-0.0F, -0.0F})).to_vector<float>()[1])) << "as NumPy";
}

TEST(Cumulate, agrees_with_a_plain_loop_at_sizes_around_blocks) {
  for (const Shape& shape : {Shape{3, 1, 1}, Shape{2, 5, 17}, Shape{1, 700, 2}, Shape{2, 3, 1100}, Shape{40, 9, 1}}) {
    const Tensor x = sample(shape, 2);
    const int64_t outer = shape[0].value(), length = shape[1].value(), inner = shape[2].value();
    const Doubles values = x.to_vector<double>();
    Doubles sums(values.size());
    for (int64_t row = 0; row < outer; ++row) {
      for (int64_t column = 0; column < inner; ++column) {
        double total = 0;
        for (int64_t i = 0; i < length; ++i) {
          const int64_t index = (row * length + i) * inner + column;
          sums[index] = total = total + values[index];
        }
      }
    }
    EXPECT_EQ(cumsum(x, {.axis = 1}).to_vector<double>(), sums) << to_string(shape);
  }
}

TEST(Cumulate, has_right_gradients_with_zeros_too) {
  for (const bool reverse : {false, true}) {
    for (const bool exclusive : {false, true}) {
      for (const int64_t axis : {0, 1}) {
        const CumulateOptions options{.axis = axis, .reverse = reverse, .exclusive = exclusive};
        check_gradients([&](const auto& in) { return cumsum(in[0], options); }, {sample({3, 4}, 1)});
        check_gradients([&](const auto& in) { return cumprod(in[0], options); }, {sample({3, 4}, 1)});
        check_gradients([&](const auto& in) { return cumprod(in[0], options); }, {with_zeros({3, 4}, {1, 6, 7, 11})});
      }
      const CumulateOptions options{.reverse = reverse, .exclusive = exclusive};
      check_second_order([&](const auto& in) { return cumprod(in[0], options); }, {with_zeros({2, 4}, {1, 4, 6})});
      check_second_order([&](const auto& in) { return cumsum(in[0] * in[0], options); }, {sample({4}, 1)});
    }
  }
}

TEST(Cumulate, traced_once_serves_every_shape_with_its_gradient) {
  const std::vector<std::vector<Tensor>> calls = {
      {sample({3, 4}, 1)}, {sample({1, 1}, 2)}, {zeros({0, 2}, {.dtype = f64})}, {sample({2, 40}, 3)}, {sample({33, 2}, 4)}};
  const auto with_gradient = [](const std::function<Tensor(const Tensor&)>& f) {
    return [f](const std::vector<Tensor>& in) {
      GradientTape tape;
      tape.watch(in[0]);
      const Tensor y = f(in[0]);
      return tape.gradient(sum(y * y), in[0]);
    };
  };
  for (const int64_t axis : {0, 1}) {
    expect_traced_as_eager(with_gradient([=](const Tensor& x) { return cumsum(x, {.axis = axis, .reverse = true}); }), calls);
    expect_traced_as_eager(with_gradient([=](const Tensor& x) { return cumprod(x, {.axis = axis}); }), calls);
    expect_traced_as_eager(with_gradient([=](const Tensor& x) { return prod(x, {.axes = {axis}}); }), calls);
  }
  expect_traced_as_eager(with_gradient([](const Tensor& x) { return prod(x); }), calls);
}

TEST(ReduceProduct, refuses_wrong_calls) {
  const Tensor x = ones({2, 3});
  expect_error<ShapeError>([&] { prod(x, {.axes = {2}}); }, "prod: axis 2 is outside the rank 2: x is f32[2, 3]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([&] { prod(x, {.axes = {-3}}); },
                           "prod: axis -3 is outside the rank 2: x is f32[2, 3]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([&] { prod(x, {.axes = {0, 0}}); },
                           "prod: axis 0 is named twice: x is f32[2, 3]; expected every axis at most once.");
  for (const int64_t axis : {2, -3}) {
    const std::string rest = ": axis " + std::to_string(axis) + " is outside the rank 2: x is f32[2, 3]; expected -2 <= axis < 2.";
    expect_error<ShapeError>([&] { cumsum(x, {.axis = axis}); }, "cumsum" + rest);
    expect_error<ShapeError>([&] { cumprod(x, {.axis = axis}); }, "cumprod" + rest);
  }
  expect_error<ShapeError>([] { cumsum(tensor(std::vector<float>{1}, {})); },
                           "cumsum: axis -1 is outside the rank 0: x is f32[]; expected 0 <= axis < 0.");
}

}  // namespace
}  // namespace anyshape
