// Reductions that choose or ask: min, any, all, count_nonzero, argmax, argmin.
#include "autodiff/finite_differences.h"
#include "ops/expect_error.h"
#include "ops/expect_traced.h"

#include <anyshape/error.h>

#include <cmath>
#include <limits>
#include <random>

namespace anyshape {
namespace {

using Bools = std::vector<bool>;
using Floats = std::vector<float>;
using Integers = std::vector<int32_t>;
constexpr float infinity = std::numeric_limits<float>::infinity();

Tensor random_floats(const Shape& shape, unsigned seed) {
  std::mt19937 host(seed);
  std::vector<float> values(shape.count().value());
  for (float& value : values) value = static_cast<float>(static_cast<int>(host() % 41) - 20) / 4;  // many ties
  return tensor(values, shape);
}

TEST(Min, finds_the_least_along_axes_and_keeps_infinity_and_nan) {
  EXPECT_EQ(min(tensor({{3, 1}, {2, 7}}), {.axes = {1}}).to_vector<int32_t>(), (Integers{1, 2}));
  EXPECT_EQ(min(tensor({{3, 1}, {2, 7}}), {.axes = {0}, .keep_dims = true}).to_vector<int32_t>(), (Integers{2, 1}));
  EXPECT_EQ(min(tensor({infinity, infinity})).item<float>(), infinity);
  EXPECT_TRUE(std::isnan(min(tensor({1.0F, std::nanf(""), 2.0F})).item<float>()));
  EXPECT_EQ(min(cast(tensor({200, 7, 255}), u8)).dtype(), u8);
  EXPECT_EQ(min(cast(tensor({200, 7, 255}), u8)).to_vector<uint8_t>(), (std::vector<uint8_t>{7}));
  EXPECT_EQ(max(cast(tensor({{200, 7}, {9, 255}}), u8), {.axes = {0}}).to_vector<uint8_t>(), (std::vector<uint8_t>{200, 255}));
}

TEST(Min, of_nothing_is_the_highest_number) {
  EXPECT_EQ(min(zeros({2, 0}), {.axes = {1}}).to_vector<float>(), (Floats(2, std::numeric_limits<float>::max())));
  EXPECT_EQ(min(zeros({0}, {.dtype = f64})).item<double>(), std::numeric_limits<double>::max());
  EXPECT_EQ(min(zeros({0}, {.dtype = i64})).item<int64_t>(), std::numeric_limits<int64_t>::max());
  EXPECT_TRUE(min(zeros({0, 3}), {.axes = {1}}).shape() == (Shape{0}));
}

TEST(Min, shares_its_gradient_among_equals) {
  GradientTape tape;
  const Tensor x = tensor({{1.0F, 1.0F, 2.0F}, {5.0F, 4.0F, 6.0F}});
  tape.watch(x);
  EXPECT_EQ(tape.gradient(min(x, {.axes = {1}}), x).to_vector<float>(), (Floats{0.5F, 0.5F, 0, 0, 1, 0}));
  check_gradients([](const auto& in) { return min(in[0], {.axes = {0}}); }, {sample({3, 2}, 1)});
  check_second_order([](const auto& in) { return min(in[0] * in[0], {.axes = {1}}); }, {sample({2, 3}, 1)});
}

TEST(Truth, asks_whether_some_or_all_are_not_zero) {
  const Tensor x = tensor({{0.0F, -0.0F}, {0.0F, 2.0F}, {std::nanf(""), 1.0F}});
  EXPECT_EQ(any(x).dtype(), b8);
  EXPECT_EQ(any(x, {.axes = {1}}).to_vector<bool>(), (Bools{false, true, true}));
  EXPECT_EQ(all(x, {.axes = {1}}).to_vector<bool>(), (Bools{false, false, true}));
  EXPECT_EQ(any(x, {.axes = {0}}).to_vector<bool>(), (Bools{true, true}));
  EXPECT_EQ(all(x, {.axes = {0}}).to_vector<bool>(), (Bools{false, false}));
  EXPECT_TRUE(any(x).item<bool>());
  EXPECT_FALSE(all(x).item<bool>());
  EXPECT_TRUE(all(x, {.axes = {0, 1}, .keep_dims = true}).shape() == (Shape{1, 1}));
  EXPECT_EQ(any(zeros({2, 0}), {.axes = {1}}).to_vector<bool>(), (Bools{false, false}));
  EXPECT_EQ(all(zeros({2, 0}), {.axes = {1}}).to_vector<bool>(), (Bools{true, true}));
  EXPECT_EQ(any(tensor({0, 3}), {.axes = std::vector<int64_t>()}).to_vector<bool>(), (Bools{false, true}));
}

TEST(CountNonzero, counts_in_i64) {
  const Tensor x = tensor({{0.0F, 1.5F, std::nanf("")}, {0.0F, 0.0F, -1.0F}});
  EXPECT_EQ(count_nonzero(x).dtype(), i64);
  EXPECT_EQ(count_nonzero(x).item<int64_t>(), 3);
  EXPECT_EQ(count_nonzero(x, {.axes = {0}}).to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(count_nonzero(zeros({0, 2}), {.axes = {0}}).to_vector<int64_t>(), (std::vector<int64_t>{0, 0}));
}

TEST(ArgExtremes, take_the_first_of_equals_along_every_axis) {
  const Tensor x = tensor({{1, 3, 3}, {3, 2, 2}});
  EXPECT_EQ(argmax(x, {.axis = 1}).dtype(), i32);
  EXPECT_EQ(argmax(x, {.axis = 1}).to_vector<int32_t>(), (Integers{1, 0}));
  EXPECT_EQ(argmax(x, {.axis = 0}).to_vector<int32_t>(), (Integers{1, 0, 0}));
  EXPECT_EQ(argmin(x, {.axis = -1}).to_vector<int32_t>(), (Integers{0, 1}));
  EXPECT_EQ(argmax(x).item<int32_t>(), 1);
  EXPECT_TRUE(argmax(x, {.axis = 0, .keep_dims = true}).shape() == (Shape{1, 3}));
  EXPECT_TRUE(argmin(x, {.keep_dims = true}).shape() == (Shape{1, 1}));
  EXPECT_EQ(argmax(tensor(std::vector<double>{7.0}, {})).item<int32_t>(), 0);
  EXPECT_EQ(argmax(cast(tensor({0, 1, 1}), b8)).item<int32_t>(), 1);
  EXPECT_TRUE(argmax(zeros({0, 3}), {.axis = 1}).shape() == (Shape{0}));
}

TEST(ArgExtremes, take_the_first_nan) {
  const float nan = std::nanf("");
  const Tensor rows = tensor({{1.0F, nan, 3.0F, nan}, {infinity, nan, -infinity, 0.0F}, {-infinity, -infinity, -infinity, -infinity}});
  EXPECT_EQ(argmax(rows, {.axis = 1}).to_vector<int32_t>(), (Integers{1, 1, 0}));
  EXPECT_EQ(argmin(rows, {.axis = 1}).to_vector<int32_t>(), (Integers{1, 1, 0}));
  const Tensor columns = transpose(rows);
  EXPECT_EQ(argmax(columns, {.axis = 0}).to_vector<int32_t>(), (Integers{1, 1, 0}));
  EXPECT_EQ(argmin(columns, {.axis = 0}).to_vector<int32_t>(), (Integers{1, 1, 0}));
  EXPECT_EQ(argmax(tensor({{nan, 1.0F}, {2.0F, nan}, {nan, nan}}), {.axis = 0}).to_vector<int32_t>(), (Integers{0, 1}));
}

TEST(ArgExtremes, agree_with_a_plain_search_at_sizes_around_blocks_and_parts) {
  for (const int64_t length : {1, 2, 15, 16, 17, 33, 16384, 16385, 40000}) {
    for (const int64_t inner : {1, 3}) {
      const Tensor x = random_floats({2, length, inner}, static_cast<unsigned>(length + inner));
      const Floats values = x.to_vector<float>();
      Integers greatest, least;
      for (int64_t row = 0; row < 2; ++row) {
        for (int64_t column = 0; column < inner; ++column) {
          const auto at = [&](int64_t i) { return values[(row * length + i) * inner + column]; };
          int64_t top = 0, low = 0;
          for (int64_t i = 1; i < length; ++i) {
            if (at(i) > at(top)) top = i;
            if (at(i) < at(low)) low = i;
          }
          greatest.push_back(static_cast<int32_t>(top));
          least.push_back(static_cast<int32_t>(low));
        }
      }
      const Tensor shaped = inner == 1 ? reshape(x, {2, length}) : x;
      EXPECT_EQ(argmax(shaped, {.axis = 1}).to_vector<int32_t>(), greatest) << length;
      EXPECT_EQ(argmin(shaped, {.axis = 1}).to_vector<int32_t>(), least) << length;
    }
  }
}

TEST(ReduceChoice, traced_once_serves_every_shape) {
  const std::vector<std::vector<Tensor>> calls = {
      {random_floats({3, 4}, 1)}, {random_floats({1, 1}, 2)}, {random_floats({5, 33}, 3)}, {random_floats({20, 2}, 4)}};
  for (const int64_t axis : {0, 1}) {
    expect_traced_as_eager([&](const auto& in) { return min(in[0], {.axes = {axis}}); }, calls);
    expect_traced_as_eager([&](const auto& in) { return any(in[0] > 4, {.axes = {axis}}); }, calls);
    expect_traced_as_eager([&](const auto& in) { return all(in[0] < 4, {.axes = {axis}}); }, calls);
    expect_traced_as_eager([&](const auto& in) { return count_nonzero(in[0], {.axes = {axis}}); }, calls);
    expect_traced_as_eager([&](const auto& in) { return argmax(in[0], {.axis = axis}); }, calls);
    expect_traced_as_eager([&](const auto& in) { return argmin(in[0] * 2, {.axis = axis, .keep_dims = true}); }, calls);
  }
  expect_traced_as_eager([&](const auto& in) { return argmax(in[0]); }, calls);
  expect_traced_as_eager([&](const auto& in) { return min(in[0], {.axes = {0}}); }, {{zeros({0, 3})}, {random_floats({2, 1}, 5)}});
}

TEST(ReduceChoice, refuses_wrong_calls) {
  const Tensor x = ones({2, 3});
  expect_error<ShapeError>([&] { min(x, {.axes = {2}}); }, "min: axis 2 is outside the rank 2: x is f32[2, 3]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([&] { min(x, {.axes = {-3}}); }, "min: axis -3 is outside the rank 2: x is f32[2, 3]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([&] { min(x, {.axes = {1, -1}}); },
                           "min: axis 1 is named twice: x is f32[2, 3]; expected every axis at most once.");
  expect_error<ShapeError>([&] { any(x, {.axes = {2}}); }, "any: axis 2 is outside the rank 2: x is f32[2, 3]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([&] { all(x, {.axes = {0, 0}}); },
                           "all: axis 0 is named twice: x is f32[2, 3]; expected every axis at most once.");
  expect_error<ShapeError>([&] { count_nonzero(x, {.axes = {5}}); },
                           "count_nonzero: axis 5 is outside the rank 2: x is f32[2, 3]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([&] { argmax(x, {.axis = 2}); },
                           "argmax: axis 2 is outside the rank 2: x is f32[2, 3]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([&] { argmin(zeros({2, 0}), {.axis = 1}); },
                           "argmin: there is no element to choose: x is f32[2, 0]; expected at least one element along the axis.");
  expect_error<ShapeError>([&] { argmax(zeros({0})); },
                           "argmax: there is no element to choose: x is f32[0]; expected at least one element along the axis.");
}

TEST(ReduceChoice, argmax_of_nothing_is_refused_inside_a_trace_too) {
  auto choose = function([](Tensor x) { return argmax(x, {.axis = 1}); }, {.name = "choose"});
  EXPECT_EQ(choose(tensor({{1.0F, 2.0F}})).to_vector<int32_t>(), (Integers{1}));
  EXPECT_THROW(choose(zeros({2, 0})), ShapeError);
  EXPECT_TRUE(choose(zeros({0, 2})).shape() == (Shape{0}));
  EXPECT_EQ(choose.stats().traces, 1);
}

}  // namespace
}  // namespace anyshape
