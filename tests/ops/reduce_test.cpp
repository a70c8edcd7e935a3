// Reductions: numbers along axes, empty axes, dtypes, sum_to and refused calls.
#include "function/compile.h"
#include "ops/expect_error.h"

#include <anyshape/anyshape.h>

#include <cmath>
#include <functional>
#include <limits>

namespace anyshape {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<int32_t>;

using Body = std::function<Tensor(const std::vector<Tensor>&)>;

Tensor counting(const Shape& shape) { return reshape(arange(shape.count(), {.dtype = f32}), shape); }

TEST(Reduce, sums_along_the_named_axes) {
  const Tensor x = counting({2, 3, 2});
  EXPECT_EQ(sum(x).item<float>(), 66.0F);
  EXPECT_EQ(sum(x, {.axes = {0}}).to_vector<float>(), (Floats{6, 8, 10, 12, 14, 16}));
  EXPECT_EQ(sum(x, {.axes = {-1}}).to_vector<float>(), (Floats{1, 5, 9, 13, 17, 21}));
  EXPECT_EQ(sum(x, {.axes = {0, 2}}).to_vector<float>(), (Floats{14, 22, 30}));
  EXPECT_EQ(sum(x, {.axes = {2, 0}}).to_vector<float>(), (Floats{14, 22, 30}));
  EXPECT_TRUE(sum(x, {.axes = {0, 2}, .keep_dims = true}).shape() == (Shape{1, 3, 1}));
  EXPECT_TRUE(all_equal(sum(x, {.axes = std::vector<int64_t>()}), x)) << "no axes: nothing is summed";
}

TEST(Reduce, sum_of_nothing_is_zero_and_max_of_nothing_the_lowest_number) {
  EXPECT_EQ(sum(zeros({0})).item<float>(), 0.0F);
  EXPECT_EQ(sum(zeros({2, 0}), {.axes = {1}}).to_vector<float>(), (Floats{0, 0}));
  EXPECT_TRUE(sum(zeros({0, 3}), {.axes = {1}}).shape() == (Shape{0}));
  EXPECT_EQ(max(zeros({2, 0}), {.axes = {1}}).to_vector<float>(), (Floats(2, std::numeric_limits<float>::lowest())));
  EXPECT_EQ(max(zeros({0}, {.dtype = f64})).item<double>(), std::numeric_limits<double>::lowest());
  EXPECT_EQ(max(zeros({0}, {.dtype = i32})).item<int32_t>(), std::numeric_limits<int32_t>::min());
  EXPECT_TRUE(std::isnan(mean(zeros({0})).item<float>()));
}

TEST(Reduce, max_keeps_minus_infinity_and_nan) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(max(tensor({-infinity, -infinity})).item<float>(), -infinity);
  EXPECT_TRUE(std::isnan(max(tensor({1.0F, std::nanf(""), 2.0F})).item<float>()));
  EXPECT_EQ(max(tensor({{1, 5}, {7, 2}}), {.axes = {1}}).to_vector<int32_t>(), (Integers{5, 7}));
}

TEST(Reduce, dtypes_count_wrap_and_average) {
  EXPECT_EQ(sum(cast(tensor({1, 0, 1}), b8)).dtype(), i32);
  EXPECT_EQ(sum(cast(tensor({1, 0, 1}), b8)).item<int32_t>(), 2);
  EXPECT_EQ(sum(tensor({std::numeric_limits<int32_t>::max(), 1})).item<int32_t>(), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(mean(tensor({1, 2})).dtype(), f32);
  EXPECT_EQ(mean(tensor({1, 2})).item<float>(), 1.5F);
  EXPECT_EQ(mean(counting({2, 3}), {.axes = {0}}).to_vector<float>(), (Floats{1.5F, 2.5F, 3.5F}));
  EXPECT_EQ(mean(ones({3}, {.dtype = f64})).dtype(), f64);
}

TEST(Reduce, softmax_rows_add_up_and_do_not_overflow) {
  const Tensor x = tensor({{1000.0F, 1000.0F}, {-1000.0F, 0.0F}});
  EXPECT_TRUE(all_close(softmax(x), tensor({{0.5F, 0.5F}, {0.0F, 1.0F}})));
  EXPECT_TRUE(all_close(log_softmax(x), tensor({{-std::log(2.0F), -std::log(2.0F)}, {-1000.0F, 0.0F}})));
  EXPECT_TRUE(all_close(sum(softmax(counting({3, 4}), {.axis = 0}), {.axes = {0}}), ones({4})));
  EXPECT_TRUE(softmax(zeros({3, 0})).shape() == (Shape{3, 0}));
  EXPECT_EQ(softmax(tensor({1, 1})).dtype(), f32);
}

TEST(Reduce, sum_to_undoes_broadcasting) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(sum_to(x, {3}).to_vector<float>(), (Floats{3, 5, 7}));
  EXPECT_EQ(sum_to(x, {2, 1}).to_vector<float>(), (Floats{3, 12}));
  EXPECT_EQ(sum_to(x, {}).item<float>(), 15.0F);
  EXPECT_EQ(sum_to(x, {1, 1}).to_vector<float>(), (Floats{15}));
  EXPECT_EQ(sum_to(x, {2, 3}).impl(), x.impl());
  EXPECT_EQ(sum_to(zeros({0, 3}), {1, 3}).to_vector<float>(), (Floats{0, 0, 0}));
  EXPECT_EQ(sum_to(counting({2, 2, 2}), {1, 2}).to_vector<float>(), (Floats{12, 16}));
}

TEST(Reduce, refuses_axes_outside_the_rank_and_axes_named_twice) {
  const Tensor x = ones({2, 3});
  expect_error<ShapeError>([&] { sum(x, {.axes = {2}}); }, "sum: axis 2 is outside the rank 2: x is f32[2, 3]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([&] { max(x, {.axes = {-3}}); }, "max: axis -3 is outside the rank 2: x is f32[2, 3]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([&] { sum(x, {.axes = {1, -1}}); },
                           "sum: axis 1 is named twice: x is f32[2, 3]; expected every axis at most once.");
  expect_error<ShapeError>([&] { softmax(x, {.axis = 2}); },
                           "softmax: axis 2 is outside the rank 2: x is f32[2, 3]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([] { log_softmax(1.0F); }, "log_softmax: axis -1 is outside the rank 0: x is f32[]; expected 0 <= axis < 0.");
  expect_error<ArgumentError>([] { sum(Tensor()); }, "sum: argument 0 is an empty tensor handle; expected a tensor with a value.");
}

// Whether an axis is known to have the size 1 must not be seen in a bit: the sum of one element is that element.
TEST(Reduce, sum_to_keeps_the_sign_of_a_zero_that_it_sums_alone) {
  const Body bodies[] = {
      [](const std::vector<Tensor>& in) { return sum_to(in[0], {1, in[0].shape()[1]}); },
      [](const std::vector<Tensor>& in) { return sum_to(in[0], {in[0].shape()[1]}); },
      [](const std::vector<Tensor>& in) { return sum_to(in[0], {in[0].shape()[0], 1}); },
      [](const std::vector<Tensor>& in) { return sum_to(in[0], {1, 1}); },
      [](const std::vector<Tensor>& in) { return sum_to(in[0], in[1].shape()); },
  };
  for (const Dtype dtype : {f32, f64, f16}) {
    for (const Body& body : bodies) {
      const auto signs = [&](Tensor x, Tensor y) { return sign_bit(body({x, y})); };
      auto traced = function(signs, {.name = "sum_to"});
      for (const Shape& shape : {Shape{1, 1}, Shape{1, 3}, Shape{3, 1}, Shape{1, 40}, Shape{40, 1}}) {
        const Tensor x = -zeros(shape, {.dtype = dtype}), like = ones(shape, {.dtype = dtype});
        const std::vector<bool> eager = signs(x, like).to_vector<bool>();
        EXPECT_EQ(traced(x, like).to_vector<bool>(), eager) << to_string(shape);
        const function_detail::ScopedInterpretation interpretation;
        auto exact = function(signs, {.name = "exact", .shapes = Shapes::Exact});
        EXPECT_EQ(exact(x, like).to_vector<bool>(), eager) << to_string(shape);
      }
    }
  }
  auto alone = function([](Tensor x) { return sign_bit(sum_to(x, {1, x.shape()[1]})); }, {.name = "alone"});
  EXPECT_EQ(alone(-zeros({1, 2})).to_vector<bool>(), (std::vector<bool>{true, true}));
  EXPECT_EQ(alone(zeros({0, 2})).to_vector<bool>(), (std::vector<bool>{false, false})) << "of nothing 0";
}

TEST(Reduce, sum_to_refuses_what_broadcasting_cannot_have_made) {
  const std::string rule = "; expected a shape whose sizes are 1 or the tensor's, aligned at the last axis.";
  expect_error<ShapeError>([] { sum_to(ones({2, 3}), {2}); }, "sum_to: cannot sum to [2]: x is f32[2, 3]" + rule);
  expect_error<ShapeError>([] { sum_to(ones({3}), {1, 3}); }, "sum_to: cannot sum to [1, 3]: x is f32[3]" + rule);
  expect_error<ShapeError>([] { sum_to(ones({1}), {0}); }, "sum_to: cannot sum to [0]: x is f32[1]" + rule);
  expect_error<ShapeError>([] { sum_to(ones({1}), {4}); }, "sum_to: cannot sum to [4]: x is f32[1]" + rule);
}

}  // namespace
}  // namespace anyshape
