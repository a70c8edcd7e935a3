// Elementwise ops: numbers, broadcasting, dtypes, empty tensors and refused calls.
#include "ops/expect_error.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <cmath>
#include <limits>

namespace anyshape {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<int32_t>;
const float infinity = std::numeric_limits<float>::infinity();

TEST(Elementwise, arithmetic_gives_the_numbers_of_the_host) {
  const Tensor a = tensor({1.5F, -2.0F, 8.0F}), b = tensor({0.5F, 4.0F, -2.0F});
  EXPECT_EQ((a + b).to_vector<float>(), (Floats{2.0F, 2.0F, 6.0F}));
  EXPECT_EQ((a - b).to_vector<float>(), (Floats{1.0F, -6.0F, 10.0F}));
  EXPECT_EQ((a * b).to_vector<float>(), (Floats{0.75F, -8.0F, -16.0F}));
  EXPECT_EQ((a / b).to_vector<float>(), (Floats{3.0F, -0.5F, -4.0F}));
  EXPECT_EQ(maximum(a, b).to_vector<float>(), (Floats{1.5F, 4.0F, 8.0F}));
  EXPECT_EQ((-a).to_vector<float>(), (Floats{-1.5F, 2.0F, -8.0F}));
}

TEST(Elementwise, functions_are_close_to_the_hosts) {
  const Tensor x = tensor({0.25F, 1.0F, 3.5F});
  for (int i = 0; i < 3; ++i) {
    const float value = x.to_vector<float>()[i];
    EXPECT_NEAR(exp(x).to_vector<float>()[i], std::exp(value), 4e-6F);
    EXPECT_NEAR(log(x).to_vector<float>()[i], std::log(value), 1e-6F);
    EXPECT_NEAR(tanh(x).to_vector<float>()[i], std::tanh(value), 1e-6F);
  }
}

TEST(Elementwise, broadcasts_along_axes_of_size_one_and_missing_ones) {
  const Tensor column = tensor({{1.0F}, {2.0F}}), row = tensor({10.0F, 20.0F, 30.0F});
  const Tensor result = column + row;
  EXPECT_TRUE(result.shape() == (Shape{2, 3}));
  EXPECT_EQ(result.to_vector<float>(), (Floats{11, 21, 31, 12, 22, 32}));
  EXPECT_EQ((row * 2).to_vector<float>(), (Floats{20, 40, 60}));
}

TEST(Elementwise, empty_tensors_give_empty_results) {
  EXPECT_TRUE((zeros({0, 3}) + ones({3})).shape() == (Shape{0, 3}));
  EXPECT_TRUE((zeros({0}) * ones({1})).shape() == (Shape{0}));
  EXPECT_TRUE(exp(zeros({2, 0})).shape() == (Shape{2, 0}));
}

TEST(Elementwise, dtypes_follow_promotion) {
  EXPECT_EQ((tensor({1}) + tensor({1.0F})).dtype(), f32);
  EXPECT_EQ((tensor({1}) + tensor<int64_t>({1})).dtype(), i64);
  EXPECT_EQ((tensor({1.0F}) + tensor({1.0})).dtype(), f64);
  EXPECT_EQ((tensor({1.0F}) * 2.5).dtype(), f32) << "host numbers are weak";
  EXPECT_EQ((tensor({1}) * 2.5).dtype(), f32);
  EXPECT_EQ((tensor({7}) / tensor({2})).to_vector<float>(), (Floats{3.5F})) << "integers divide to f32";
  EXPECT_EQ((cast(tensor({1, 0}), b8) + cast(tensor({1, 1}), b8)).to_vector<int32_t>(), (Integers{2, 1})) << "b8 counts in i32";
  EXPECT_EQ(exp(tensor({0})).dtype(), f32);
}

TEST(Elementwise, maximum_passes_nan_on) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(maximum(tensor({nan}), tensor({1.0F})).item<float>()));
  EXPECT_TRUE(std::isnan(maximum(tensor({1.0F}), tensor({nan})).item<float>()));
  EXPECT_TRUE(std::isnan(relu(tensor({nan})).item<float>()));
}

TEST(Elementwise, comparisons_give_b8_and_are_false_for_nan) {
  const Tensor a = tensor({1.0F, 2.0F, 3.0F, std::numeric_limits<float>::quiet_NaN()}), b = tensor({2.0F, 2.0F, 2.0F, 2.0F});
  const auto bits = [](const Tensor& x) {
    EXPECT_EQ(x.dtype(), b8);
    return cast(x, i32).to_vector<int32_t>();
  };
  EXPECT_EQ(bits(a < b), (Integers{1, 0, 0, 0}));
  EXPECT_EQ(bits(a <= b), (Integers{1, 1, 0, 0}));
  EXPECT_EQ(bits(a > b), (Integers{0, 0, 1, 0}));
  EXPECT_EQ(bits(a >= b), (Integers{0, 1, 1, 0}));
  EXPECT_EQ(bits(a == b), (Integers{0, 1, 0, 0}));
  EXPECT_EQ(bits(a != b), (Integers{1, 0, 1, 1}));
}

TEST(Elementwise, where_takes_from_both_and_broadcasts_all_three) {
  const Tensor condition = cast(tensor({{1}, {0}}), b8);
  EXPECT_EQ(where(condition, tensor({1.0F, 2.0F}), 0).to_vector<float>(), (Floats{1, 2, 0, 0}));
  EXPECT_EQ(where(tensor({2.0F, 0.0F}), 1, 2).to_vector<int32_t>(), (Integers{1, 2})) << "a condition is anything that is not 0";
}

TEST(Elementwise, cast_truncates_saturates_and_keeps_the_tensor_of_its_own_dtype) {
  const Tensor x = tensor({1.9F, -1.9F, 3e10F, -3e10F, std::numeric_limits<float>::quiet_NaN()});
  const int32_t highest = std::numeric_limits<int32_t>::max(), lowest = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(cast(x, i32).to_vector<int32_t>(), (Integers{1, -1, highest, lowest, 0}));
  EXPECT_EQ(cast(x, f32).impl(), x.impl());
  EXPECT_EQ((cast(2, f32) + tensor({1})).dtype(), f32) << "a cast host number is weak no longer";
  EXPECT_EQ((cast(2.0, f64) + tensor({1.0F})).dtype(), f64);
}

TEST(Elementwise, the_remainder_is_put_where_the_dividend_was) {
  Tensor x = tensor({5, -5, 7});
  const Tensor before = x;
  x %= 3;
  EXPECT_EQ(x.to_vector<int32_t>(), (Integers{2, 1, 1}));
  EXPECT_EQ(before.to_vector<int32_t>(), (Integers{5, -5, 7}));
}

TEST(Elementwise, relu_is_zero_below_and_at_zero) {
  EXPECT_EQ(relu(tensor({-1.0F, 0.0F, 2.0F, infinity, -infinity})).to_vector<float>(), (Floats{0, 0, 2, infinity, 0}));
  EXPECT_EQ(relu(tensor({-3, 3})).to_vector<int32_t>(), (Integers{0, 3}));
}

TEST(Elementwise, refuses_shapes_that_do_not_broadcast) {
  const std::string rule = "; expected sizes that are equal or 1, aligned at the last axis.";
  expect_error<ShapeError>([] { add(ones({4}), ones({5})); }, "add: shapes do not broadcast: a is f32[4], b is f32[5]" + rule);
  expect_error<ShapeError>([] { ones({2, 3}) - ones({2}); }, "subtract: shapes do not broadcast: a is f32[2, 3], b is f32[2]" + rule);
  expect_error<ShapeError>([] { ones({0}) * ones({2}); }, "multiply: shapes do not broadcast: a is f32[0], b is f32[2]" + rule);
  expect_error<ShapeError>([] { ones({3}) / ones({2}); }, "divide: shapes do not broadcast: a is f32[3], b is f32[2]" + rule);
  expect_error<ShapeError>([] { maximum(ones({3}), ones({2})); }, "maximum: shapes do not broadcast: a is f32[3], b is f32[2]" + rule);
  expect_error<ShapeError>([] { greater(ones({3}), ones({2})); }, "greater: shapes do not broadcast: a is f32[3], b is f32[2]" + rule);
  expect_error<ShapeError>([] { where(ones({3}), ones({2}), 0); },
                           "where: shapes do not broadcast: a is b8[3], b is f32[2], c is f32[]" + rule);
}

TEST(Elementwise, refuses_empty_handles) {
  expect_error<ArgumentError>([] { add(Tensor(), ones({2})); },
                              "add: argument 0 is an empty tensor handle; expected a tensor with a value.");
  expect_error<ArgumentError>([] { where(ones({2}), ones({2}), Tensor()); },
                              "where: argument 2 is an empty tensor handle; expected a tensor with a value.");
  expect_error<ArgumentError>([] { exp(Tensor()); }, "exp: argument 0 is an empty tensor handle; expected a tensor with a value.");
}

}  // namespace
}  // namespace anyshape
