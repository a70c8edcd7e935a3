// The wider functions of the loop IR: error bounds against libm in long double, and the corners where IEEE 754 says what comes out.
#include <bit>
#include <random>

#include "loop/accuracy.h"

namespace anyshape::loop {
namespace {

long double exact_softplus(long double x) { return std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(x))); }

TEST(MathFunctions, expm1_and_log1p_are_within_two_ulp) {
  expect_accurate<float>("expm1", expm1, std::expm1, -30.0F, 88.7F, 2);
  expect_accurate<float>("expm1", expm1, std::expm1, -1.5F, 1.5F, 2);
  expect_accurate<double>("expm1", expm1, std::expm1, -60.0, 709.7, 2);
  expect_accurate<double>("expm1", expm1, std::expm1, -1.5, 1.5, 2);
  expect_accurate<float>("log1p", log1p, std::log1p, -0.9999F, 4.0F, 2);
  expect_accurate<float>("log1p", log1p, std::log1p, 0.0F, 3e38F, 2);
  expect_accurate<double>("log1p", log1p, std::log1p, -0.9999, 4.0, 2);
  expect_accurate<double>("log1p", log1p, std::log1p, 0.0, 1e308, 2);
}

TEST(MathFunctions, sinh_and_cosh_are_within_three_ulp) {
  expect_accurate<float>("sinh", sinh, std::sinh, -89.4F, 89.4F, 3);
  expect_accurate<float>("sinh", sinh, std::sinh, -2.0F, 2.0F, 3);
  expect_accurate<double>("sinh", sinh, std::sinh, -710.4, 710.4, 3);
  expect_accurate<double>("sinh", sinh, std::sinh, -2.0, 2.0, 3);
  expect_accurate<float>("cosh", cosh, std::cosh, -89.4F, 89.4F, 3);
  expect_accurate<float>("cosh", cosh, std::cosh, -2.0F, 2.0F, 3);
  expect_accurate<double>("cosh", cosh, std::cosh, -710.4, 710.4, 3);
  expect_accurate<double>("cosh", cosh, std::cosh, -2.0, 2.0, 3);
}

TEST(MathFunctions, softplus_is_within_three_ulp) {
  expect_accurate<float>("softplus", softplus, exact_softplus, -86.0F, 100.0F, 3);
  expect_accurate<double>("softplus", softplus, exact_softplus, -700.0, 800.0, 3);
}

TEST(MathFunctions, erf_is_within_two_ulp) {
  expect_accurate<float>("erf", erf, std::erf, -5.0F, 5.0F, 2);
  expect_accurate<float>("erf", erf, std::erf, -1.1F, 1.1F, 2);
  expect_accurate<double>("erf", erf, std::erf, -7.0, 7.0, 2);
  expect_accurate<double>("erf", erf, std::erf, -1.1, 1.1, 2);
}

TEST(MathFunctions, sin_cos_and_tan_are_accurate_up_to_their_limit) {
  for (const float range : {20.0F, 1e5F}) {
    expect_accurate<float>("sin", sin, std::sin, -range, range, 2);
    expect_accurate<float>("cos", cos, std::cos, -range, range, 2);
    expect_accurate<float>("tan", tan, std::tan, -range, range, 4);
  }
  for (const double range : {20.0, 3.5e13}) {
    expect_accurate<double>("sin", sin, std::sin, -range, range, 2);
    expect_accurate<double>("cos", cos, std::cos, -range, range, 2);
    expect_accurate<double>("tan", tan, std::tan, -range, range, 4);
  }
}

// libm in double is right to the last place here, which is more than an f32 needs.
TEST(MathFunctions, sin_and_cos_of_every_finite_f32_are_accurate) {
  const float most = 1.7e38F;
  expect_accurate<float>("sin", sin, [](long double x) -> long double { return std::sin(static_cast<double>(x)); }, -most, most, 2);
  expect_accurate<float>("cos", cos, [](long double x) -> long double { return std::cos(static_cast<double>(x)); }, -most, most, 2);
  expect_accurate<float>("tan", tan, [](long double x) -> long double { return std::tan(static_cast<double>(x)); }, -most, most, 4);
  // The f32 that comes nearest to a multiple of pi / 2.
  const float hard = 16367173.0F * 0x1p72F;
  EXPECT_LE(ulp_error<float>(apply<float>(cos, {hard})[0], std::cos(static_cast<double>(hard))), 2);
}

TEST(MathFunctions, inverse_functions_are_within_three_ulp) {
  expect_accurate<float>("asin", asin, std::asin, -1.0F, 1.0F, 3);
  expect_accurate<double>("asin", asin, std::asin, -1.0, 1.0, 3);
  expect_accurate<float>("acos", acos, std::acos, -1.0F, 1.0F, 3);
  expect_accurate<double>("acos", acos, std::acos, -1.0, 1.0, 3);
  expect_accurate<float>("atan", atan, std::atan, -5.0F, 5.0F, 3);
  expect_accurate<float>("atan", atan, std::atan, -3e38F, 3e38F, 3);
  expect_accurate<double>("atan", atan, std::atan, -5.0, 5.0, 3);
  expect_accurate<double>("atan", atan, std::atan, -1e308, 1e308, 3);
}

template <class T>
void expect_accurate_pair(const char* name, BinaryFunction function, long double (*exact)(long double, long double), T low, T high, T least,
                          T most, double bound) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<T> left(low, high), right(least, most);
  std::vector<T> x, y;
  for (int i = 0; i < 60000; ++i) x.push_back(left(random)), y.push_back(right(random));
  const std::vector<T> got = apply<T>(function, x, y);
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const long double expected = exact(x[i], y[i]);
    if (std::fabs(expected) > std::numeric_limits<T>::max()) continue;
    const double error = ulp_error<T>(got[i], expected);
    ASSERT_LE(error, bound) << name << " of " << x[i] << " and " << y[i] << " is " << got[i];
    largest = std::max(largest, error);
  }
  std::cout << name << (sizeof(T) == 4 ? " f32" : " f64") << ": at most " << largest << " ULP\n";
}

TEST(MathFunctions, atan2_is_within_four_ulp) {
  expect_accurate_pair<float>("atan2", atan2, std::atan2, -3.0F, 3.0F, -3.0F, 3.0F, 4);
  expect_accurate_pair<double>("atan2", atan2, std::atan2, -3.0, 3.0, -3.0, 3.0, 4);
}

TEST(MathFunctions, pow_is_within_two_ulp_and_exact_for_small_integers) {
  expect_accurate_pair<float>("pow", pow, std::pow, 0.01F, 20.0F, -25.0F, 25.0F, 2);
  expect_accurate_pair<float>("pow", pow, std::pow, 0.9F, 1.1F, -800.0F, 800.0F, 2);
  expect_accurate_pair<double>("pow", pow, std::pow, 0.01, 20.0, -200.0, 200.0, 2);
  expect_accurate_pair<double>("pow", pow, std::pow, 0.9, 1.1, -6000.0, 6000.0, 2);
  std::vector<float> x, y;
  for (int base = -12; base <= 12; ++base) {
    for (int exponent = 0; exponent <= 6; ++exponent) x.push_back(static_cast<float>(base)), y.push_back(static_cast<float>(exponent));
  }
  const std::vector<float> got = apply<float>(pow, x, y);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(got[i], std::pow(x[i], y[i])) << x[i] << " to the power " << y[i];
}

// Corners: every pair of these against libm in the same type, where zeros, infinities and NaN are exact.
template <class T>
void expect_corner_pairs(const char* name, BinaryFunction function, T (*exact)(T, T)) {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> numbers = {0, -T(0), 1, -1, 2, -2, 3, -3, T(0.5), T(-0.5), T(1.5), inf, -inf, nan, 1000000, -1000000};
  std::vector<T> x, y;
  for (T a : numbers) {
    for (T b : numbers) x.push_back(a), y.push_back(b);
  }
  const std::vector<T> got = apply<T>(function, x, y);
  for (size_t i = 0; i < x.size(); ++i) {
    const T expected = exact(x[i], y[i]);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(got[i])) << name << " of " << x[i] << " and " << y[i] << " is " << got[i];
    } else if (expected == 0 || std::isinf(expected)) {
      EXPECT_EQ(got[i], expected) << name << " of " << x[i] << " and " << y[i];
      EXPECT_EQ(std::signbit(got[i]), std::signbit(expected)) << name << " of " << x[i] << " and " << y[i];
    } else {
      EXPECT_NEAR(got[i], expected, std::fabs(expected) * 1e-6) << name << " of " << x[i] << " and " << y[i];
    }
  }
}

// NumPy's rules on top of fmod, which is exact.
template <class T>
T exact_remainder(T x, T y) {
  T rest = std::fmod(x, y);
  if (rest == 0) return std::copysign(T(0), y);
  return (rest < 0) != (y < 0) ? rest + y : rest;
}

template <class T>
T exact_floor_divide(T x, T y) {
  if (y == 0) return x / y;
  const T rest = std::fmod(x, y);
  const T quotient = (x - rest) / y - ((rest != 0 && (rest < 0) != (y < 0)) ? 1 : 0);
  if (quotient == 0) return std::copysign(T(0), x / y);
  const T floor = std::floor(quotient);
  return quotient - floor > T(0.5) ? floor + 1 : floor;
}

TEST(MathFunctions, corners_of_two_arguments_are_those_of_ieee_754) {
  expect_corner_pairs<float>("pow", pow, std::pow);
  expect_corner_pairs<double>("pow", pow, std::pow);
  expect_corner_pairs<float>("atan2", atan2, std::atan2);
  expect_corner_pairs<double>("atan2", atan2, std::atan2);
  expect_corner_pairs<float>("remainder", remainder, exact_remainder<float>);
  expect_corner_pairs<double>("remainder", remainder, exact_remainder<double>);
  expect_corner_pairs<float>("floor_divide", floor_divide, exact_floor_divide<float>);
  expect_corner_pairs<double>("floor_divide", floor_divide, exact_floor_divide<double>);
}

template <class T>
void expect_exact_rest() {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<T> mantissa(-2, 2);
  std::vector<T> x, y;
  for (int i = 0; i < 20000; ++i) x.push_back(std::ldexp(mantissa(random), i % 80)), y.push_back(mantissa(random));
  const std::vector<T> got = apply<T>(remainder, x, y);
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(got[i], exact_remainder(x[i], y[i])) << x[i] << " % " << y[i];
}

TEST(MathFunctions, remainder_is_exact_for_large_quotients) {
  expect_exact_rest<float>();
  expect_exact_rest<double>();
}

TEST(MathFunctions, integer_pow_wraps_and_cuts_reciprocals) {
  const std::vector<int32_t> x = {3, -3, 2, 2, 7, 0, 0, 1, -1, -1, 2, 0};
  const std::vector<int32_t> y = {4, 3, 31, 32, 0, 0, 5, -7, -7, -8, -1, -1};
  EXPECT_EQ(apply<int32_t>(integer_pow, x, y),
            (std::vector<int32_t>{81, -27, std::numeric_limits<int32_t>::min(), 0, 1, 1, 0, 1, -1, 1, 0, 0}));
  EXPECT_EQ(apply<int64_t>(integer_pow, {3, -2}, {39, 63}),
            (std::vector<int64_t>{4052555153018976267, std::numeric_limits<int64_t>::min()}));
}

template <class T>
void expect_corners() {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> inputs = {0, -T(0), inf, -inf, nan, -1, 1};
  struct Row {
    const char* name;
    Function function;
    T (*exact)(T);
  };
  const Row rows[] = {{"expm1", expm1, std::expm1}, {"log1p", log1p, std::log1p}, {"sinh", sinh, std::sinh}, {"cosh", cosh, std::cosh},
                      {"erf", erf, std::erf},       {"sin", sin, std::sin},       {"cos", cos, std::cos},    {"tan", tan, std::tan},
                      {"asin", asin, std::asin},    {"acos", acos, std::acos},    {"atan", atan, std::atan}};
  for (const Row& row : rows) {
    const std::vector<T> got = apply<T>(row.function, inputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const T expected = row.exact(inputs[i]);
      EXPECT_EQ(std::isnan(got[i]), std::isnan(expected)) << row.name << " of " << inputs[i];
      if (std::isnan(expected)) continue;
      if (std::isinf(expected) || expected == 0) {
        EXPECT_EQ(got[i], expected) << row.name << " of " << inputs[i];
      } else {
        EXPECT_NEAR(got[i], expected, 1e-6) << row.name << " of " << inputs[i];
      }
      EXPECT_EQ(std::signbit(got[i]), std::signbit(expected)) << row.name << " of " << inputs[i];
    }
    EXPECT_LE(std::fabs(apply<T>(row.function, {std::numeric_limits<T>::denorm_min()})[0]), T(2)) << row.name;
  }
  EXPECT_EQ(apply<T>(softplus, {inf, -inf}), (std::vector<T>{inf, 0}));
  EXPECT_TRUE(std::isnan(apply<T>(softplus, {nan})[0]));
}

TEST(MathFunctions, corners_of_f32) { expect_corners<float>(); }
TEST(MathFunctions, corners_of_f64) {
  expect_corners<double>();
  EXPECT_TRUE(std::isnan(apply<double>(sin, {trigonometry_limit * 2})[0])) << "beyond the limit there is no answer";
}

}  // namespace
}  // namespace anyshape::loop
