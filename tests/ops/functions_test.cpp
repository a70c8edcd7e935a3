// Functions, rounding, powers, Python's division and logic: numbers, dtypes, special values, empty tensors and refused calls.
#include "ops/expect_error.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <cmath>
#include <limits>

namespace anyshape {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<int32_t>;
using Unary = Tensor (*)(const Tensor&);
const float infinity = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

Integers bits(const Tensor& x) {
  EXPECT_EQ(x.dtype(), b8);
  return cast(x, i32).to_vector<int32_t>();
}

TEST(Functions, give_the_numbers_of_the_host) {
  struct Row {
    const char* name;
    Unary op;
    double (*exact)(double);
  };
  const Row rows[] = {
      {"sqrt", sqrt, std::sqrt},    {"expm1", expm1, std::expm1}, {"log1p", log1p, std::log1p}, {"sin", sin, std::sin},
      {"cos", cos, std::cos},       {"tan", tan, std::tan},       {"asin", asin, std::asin},    {"acos", acos, std::acos},
      {"atan", atan, std::atan},    {"sinh", sinh, std::sinh},    {"cosh", cosh, std::cosh},    {"erf", erf, std::erf},
      {"floor", floor, std::floor}, {"ceil", ceil, std::ceil},    {"trunc", trunc, std::trunc}, {"abs", abs, std::fabs},
  };
  const std::vector<double> values = {0.0, 0.125, 0.75, 0.999, 1e-9};
  const std::vector<float> narrow(values.begin(), values.end());
  for (const Row& row : rows) {
    const std::vector<double> wide = row.op(tensor(values, {5})).to_vector<double>();
    const std::vector<float> single = row.op(tensor(narrow, {5})).to_vector<float>();
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(wide[i], row.exact(values[i]), 1e-15 + 1e-15 * std::fabs(wide[i])) << row.name << " of " << values[i];
      EXPECT_NEAR(single[i], row.exact(narrow[i]), 1e-37 + 3e-7 * std::fabs(single[i])) << row.name << " of " << values[i];
    }
    EXPECT_TRUE(row.op(zeros({2, 0})).shape() == (Shape{2, 0})) << row.name;
  }
}

TEST(Functions, take_integers_as_f32_and_rounding_keeps_them) {
  for (const Unary op : {sqrt, rsqrt, expm1, log1p, sin, cos, tan, asin, acos, atan, sinh, cosh, erf, sigmoid, softplus}) {
    EXPECT_EQ(op(tensor({1})).dtype(), f32);
    EXPECT_EQ(op(tensor({1.0})).dtype(), f64);
  }
  for (const Unary op : {floor, ceil, trunc, round, abs, sign, square}) EXPECT_EQ(op(tensor<int64_t>({-3})).dtype(), i64);
  EXPECT_EQ(floor(tensor({-3, 4})).to_vector<int32_t>(), (Integers{-3, 4}));
  EXPECT_EQ(sign(tensor({-3, 0, 4})).to_vector<int32_t>(), (Integers{-1, 0, 1}));
  EXPECT_EQ(abs(tensor({-3, 4})).to_vector<int32_t>(), (Integers{3, 4}));
  EXPECT_EQ(reciprocal(tensor({4})).to_vector<float>(), (Floats{0.25F}));
}

TEST(Functions, round_goes_to_the_even_neighbour) {
  EXPECT_EQ(round(tensor({0.5F, 1.5F, 2.5F, -0.5F, -1.5F, 2.6F})).to_vector<float>(), (Floats{0, 2, 2, 0, -2, 3}));
  EXPECT_EQ(trunc(tensor({-1.7F, 1.7F})).to_vector<float>(), (Floats{-1, 1}));
}

TEST(Functions, pow_knows_the_corners) {
  const Tensor base = tensor({0.0F, -2.0F, -2.0F, nan, 1.0F, -1.0F, -8.0F, infinity, 2.0F, -0.0F});
  const Tensor exponent = tensor({0.0F, 3.0F, 2.0F, 0.0F, nan, infinity, 0.5F, -1.0F, 10.0F, -1.0F});
  const Floats got = pow(base, exponent).to_vector<float>();
  EXPECT_TRUE(std::isnan(got[6])) << "a negative number has no square root";
  Floats others = got;
  others[6] = 0;
  EXPECT_EQ(others, (Floats{1, -8, 4, 1, 1, 1, 0, 0, 1024, -infinity}));
  EXPECT_EQ(pow(tensor({2, -3, 5}), 3).to_vector<int32_t>(), (Integers{8, -27, 125}));
  EXPECT_EQ(pow(tensor({2, 1, -1}), -1).to_vector<int32_t>(), (Integers{0, 1, -1}));
  EXPECT_EQ(pow(tensor({2}), 0.5).dtype(), f32);
}

TEST(Functions, division_rounds_down_and_the_rest_has_the_sign_of_the_divisor) {
  const Tensor a = tensor({7, -7, 7, -7}), b = tensor({3, 3, -3, -3});
  EXPECT_EQ(floor_divide(a, b).to_vector<int32_t>(), (Integers{2, -3, -3, 2}));
  EXPECT_EQ((a % b).to_vector<int32_t>(), (Integers{1, 2, -2, -1}));
  EXPECT_EQ(floor_divide(cast(a, f32), cast(b, f32)).to_vector<float>(), (Floats{2, -3, -3, 2}));
  EXPECT_EQ((cast(a, f32) % cast(b, f32)).to_vector<float>(), (Floats{1, 2, -2, -1}));
  EXPECT_EQ((tensor({1e20F, 5.5F}) % 3).to_vector<float>(), (Floats{static_cast<float>(std::fmod(static_cast<double>(1e20F), 3.0)), 2.5F}));
  EXPECT_TRUE(std::isnan((tensor({1.0F}) % 0.0).item<float>()));
  EXPECT_EQ(floor_divide(tensor({1.0F}), 0.0).item<float>(), infinity);
}

TEST(Functions, minimum_clip_and_atan2) {
  EXPECT_EQ(minimum(tensor({1.0F, 5.0F}), 3).to_vector<float>(), (Floats{1, 3}));
  EXPECT_TRUE(std::isnan(minimum(tensor({nan}), 3).item<float>()));
  EXPECT_EQ(clip(tensor({-2.0F, 0.5F, 2.0F}), 0, 1).to_vector<float>(), (Floats{0, 0.5F, 1}));
  EXPECT_EQ(clip(tensor({-2, 5}), 0, 3).to_vector<int32_t>(), (Integers{0, 3}));
  const Floats angles = atan2(tensor({0.0F, 1.0F, -1.0F, 0.0F}), tensor({1.0F, 0.0F, -1.0F, -1.0F})).to_vector<float>();
  const double expected[] = {0, 1.5707963267948966, -2.356194490192345, 3.141592653589793};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(angles[i], expected[i], 3e-7);
}

TEST(Functions, logic_takes_anything_that_is_not_zero_as_true) {
  const Tensor a = tensor({0.0F, 2.0F, 0.0F, nan}), b = tensor({0, 0, 3, 1});
  EXPECT_EQ(bits(logical_and(a, b)), (Integers{0, 0, 0, 1}));
  EXPECT_EQ(bits(logical_or(a, b)), (Integers{0, 1, 1, 1}));
  EXPECT_EQ(bits(logical_xor(a, b)), (Integers{0, 1, 1, 0}));
  EXPECT_EQ(bits(!a), (Integers{1, 0, 1, 0}));
}

TEST(Functions, questions_about_floats) {
  const Tensor x = tensor({1.0F, infinity, -infinity, nan, -0.0F});
  EXPECT_EQ(bits(is_nan(x)), (Integers{0, 0, 0, 1, 0}));
  EXPECT_EQ(bits(is_inf(x)), (Integers{0, 1, 1, 0, 0}));
  EXPECT_EQ(bits(is_finite(x)), (Integers{1, 0, 0, 0, 1}));
  EXPECT_EQ(bits(sign_bit(tensor({1.0F, -infinity, -0.0F}))), (Integers{0, 1, 1}));
  EXPECT_EQ(bits(is_finite(tensor({1, 2}))), (Integers{1, 1}));
  EXPECT_EQ(bits(is_nan(tensor({1, 2}))), (Integers{0, 0}));
}

TEST(Functions, integers_divided_by_zero_give_zero_and_floats_no_number) {
  EXPECT_EQ(remainder(tensor({5, -5, 0}), tensor({0, 0, 0})).to_vector<int32_t>(), (std::vector<int32_t>{0, 0, 0})) << "as in NumPy";
  EXPECT_EQ(floor_divide(tensor({5, -5, 0}), tensor({0, 0, 0})).to_vector<int32_t>(), (std::vector<int32_t>{0, 0, 0}));
  EXPECT_TRUE(all(is_nan(remainder(tensor({5.0F, -5.0F, 0.0F}), zeros({3})))).item<bool>());
}

TEST(Functions, refuse_shapes_that_do_not_broadcast_and_handles_on_nothing) {
  const std::string rule = "; expected sizes that are equal or 1, aligned at the last axis.";
  expect_error<ShapeError>([] { pow(ones({2, 3}), ones({2})); }, "pow: shapes do not broadcast: a is f32[2, 3], b is f32[2]" + rule);
  expect_error<ShapeError>([] { ones({3}) % ones({2}); }, "remainder: shapes do not broadcast: a is f32[3], b is f32[2]" + rule);
  expect_error<ShapeError>([] { logical_and(ones({3}), ones({2})); },
                           "logical_and: shapes do not broadcast: a is b8[3], b is b8[2]" + rule);
  for (const auto& [name, op] :
       std::vector<std::pair<std::string, Unary>>{{"sqrt", sqrt}, {"erf", erf}, {"is_nan", is_nan}, {"round", round}}) {
    expect_error<ArgumentError>([&] { op(Tensor()); }, name + ": argument 0 is an empty tensor handle; expected a tensor with a value.");
  }
}

}  // namespace
}  // namespace anyshape
