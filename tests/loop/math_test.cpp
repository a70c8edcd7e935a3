// Functions and random numbers of the loop IR against libm in a wider type and against published Philox vectors.
#include "loop/math.h"

#include <gtest/gtest.h>

#include <bit>

#include "loop/accuracy.h"

namespace anyshape::loop {
namespace {

long double exact_sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }

TEST(Math, exp_is_within_one_ulp) {
  expect_accurate<float>("exp", exp, std::exp, -88.5F, 88.7F, 1);
  expect_accurate<double>("exp", exp, std::exp, -709.0, 709.7, 1);
}

template <class T>
void expect_bits_of_exp(T lowest, T highest) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const T infinity = std::numeric_limits<T>::infinity();
  std::vector<T> inputs = samples<T>(lowest, highest, true);
  // A NaN whose low bits are set, too: they are where the exponent is taken from.
  for (const T special : {T(0), -T(0), -infinity, -std::numeric_limits<T>::max(), std::bit_cast<T>(std::bit_cast<Bits>(infinity) | 0x155U)})
    inputs.push_back(special);
  const T limit = std::is_same_v<T, float> ? T(-87.336540222167969) : T(-708.396418532264106);
  for (T x = std::nextafter(limit, -infinity), i = 0; i < 3; ++i, x = std::nextafter(x, T(0))) inputs.push_back(x);
  const std::vector<T> wanted = apply<T>(exp, inputs), found = apply<T>(exp_at_most_zero, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool are_nan = std::isnan(wanted[i]) && std::isnan(found[i]);
    ASSERT_TRUE(are_nan || std::bit_cast<Bits>(wanted[i]) == std::bit_cast<Bits>(found[i])) << inputs[i] << ": " << found[i];
  }
}

TEST(Math, exp_of_what_is_at_most_zero_has_the_bits_of_exp) {
  expect_bits_of_exp<float>(-89, 0);
  expect_bits_of_exp<float>(-1, 88);
  expect_bits_of_exp<double>(-710, 0);
  expect_bits_of_exp<double>(-1, 709);
}

TEST(Math, log_is_within_one_ulp) {
  expect_accurate<float>("log", log, std::log, 0.25F, 4.0F, 1);
  expect_accurate<float>("log", log, std::log, 1e-30F, 3e38F, 1);
  expect_accurate<double>("log", log, std::log, 0.25, 4.0, 1);
  expect_accurate<double>("log", log, std::log, 1e-300, 1e308, 1);
}

TEST(Math, tanh_is_within_three_ulp_of_relative_error) {
  expect_accurate<float>("tanh", tanh, std::tanh, -12.0F, 12.0F, 3);
  expect_accurate<float>("tanh", tanh, std::tanh, -0.5F, 0.5F, 3);
  expect_accurate<double>("tanh", tanh, std::tanh, -25.0, 25.0, 3);
  expect_accurate<double>("tanh", tanh, std::tanh, -0.5, 0.5, 3);
}

TEST(Math, sigmoid_is_within_three_ulp_of_relative_error) {
  expect_accurate<float>("sigmoid", sigmoid, exact_sigmoid, -87.0F, 40.0F, 3);
  expect_accurate<double>("sigmoid", sigmoid, exact_sigmoid, -708.0, 60.0, 3);
}

template <class T>
void expect_corners() {
  const T inf = std::numeric_limits<T>::infinity();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T denormal = std::numeric_limits<T>::denorm_min();
  const T large = std::numeric_limits<T>::max();
  const std::vector<T> inputs = {0, -T(0), inf, -inf, nan, denormal, large, -large, 1000000, -1000000};
  const std::vector<T> e = apply<T>(exp, inputs);
  EXPECT_EQ(e[0], 1);
  EXPECT_EQ(e[1], 1);
  EXPECT_EQ(e[2], inf);
  EXPECT_EQ(e[3], 0);
  EXPECT_TRUE(std::isnan(e[4]));
  EXPECT_EQ(e[5], 1);
  EXPECT_EQ(e[6], inf);
  EXPECT_EQ(e[7], 0);
  EXPECT_EQ(e[8], inf);
  EXPECT_EQ(e[9], 0);
  const std::vector<T> l = apply<T>(log, inputs);
  EXPECT_EQ(l[0], -inf);
  EXPECT_EQ(l[1], -inf);
  EXPECT_EQ(l[2], inf);
  EXPECT_TRUE(std::isnan(l[3]));
  EXPECT_TRUE(std::isnan(l[4]));
  EXPECT_EQ(l[5], -inf) << "denormals count as zero";
  EXPECT_TRUE(std::isnan(l[7]));
  EXPECT_EQ(apply<T>(log, {1})[0], 0);
  const std::vector<T> t = apply<T>(tanh, inputs);
  EXPECT_EQ(t[0], 0);
  EXPECT_FALSE(std::signbit(t[0]));
  EXPECT_TRUE(std::signbit(t[1])) << "tanh keeps the sign of zero";
  EXPECT_EQ(t[2], 1);
  EXPECT_EQ(t[3], -1);
  EXPECT_TRUE(std::isnan(t[4]));
  EXPECT_EQ(t[6], 1);
  EXPECT_EQ(t[7], -1);
  const std::vector<T> s = apply<T>(sigmoid, inputs);
  EXPECT_EQ(s[0], T(0.5));
  EXPECT_EQ(s[2], 1);
  EXPECT_EQ(s[3], 0);
  EXPECT_TRUE(std::isnan(s[4]));
  EXPECT_EQ(s[6], 1);
  EXPECT_EQ(s[7], 0);
}

TEST(Math, corners_of_f32) { expect_corners<float>(); }
TEST(Math, corners_of_f64) { expect_corners<double>(); }

TEST(Math, exp_keeps_nan_with_any_payload) {
  std::vector<float> inputs;
  for (uint32_t bits : {0x7fc00001U, 0xffc12345U, 0x7fffffffU, 0xffffffffU}) inputs.push_back(std::bit_cast<float>(bits));
  for (Function function : {exp, log, tanh, sigmoid}) {
    for (float result : apply<float>(function, inputs)) EXPECT_TRUE(std::isnan(result));
  }
}

TEST(Math, tanh_never_passes_one_and_is_odd) {
  const std::vector<float> inputs = samples<float>(4.0F, 11.0F, false);
  std::vector<float> negative;
  for (float x : inputs) negative.push_back(-x);
  const std::vector<float> plus = apply<float>(tanh, inputs);
  const std::vector<float> minus = apply<float>(tanh, negative);
  for (size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_LE(plus[i], 1);
    ASSERT_EQ(plus[i], -minus[i]);
  }
}

std::vector<uint32_t> philox_words(int64_t key, int64_t low, int64_t high) {
  Builder b("words");
  const int32_t out = b.buffer("out", Dtype::i32, Access::Out);
  const Value parts[] = {b.size("key"), b.size("low"), b.size("high")};
  const RandomWords words = philox(b, parts[0], parts[1], parts[2]);
  for (int64_t i = 0; i < 4; ++i) b.store(out, b.integer(i), words.word[i]);
  std::vector<uint32_t> result(4);
  void* buffers[] = {result.data()};
  const int64_t dims[] = {key, low, high};
  interpret(b.finish(), nullptr, buffers, dims, nullptr);
  return result;
}

TEST(Random, philox_gives_the_published_words) {
  EXPECT_EQ(philox_words(0, 0, 0), (std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox_words(-1, -1, -1), (std::vector<uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  // counter 243f6a88 85a308d3 13198a2e 03707344, key a4093822 299f31d0
  EXPECT_EQ(philox_words(0x299f31d0a4093822, static_cast<int64_t>(0x85a308d3243f6a88), 0x0370734413198a2e),
            (std::vector<uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

template <class T>
std::vector<T> draw(Value (*from_words)(Builder&, const RandomWords&, Dtype), int64_t count) {
  Builder b("draw");
  const int32_t y = b.buffer("y", dtype_of<T>, Access::Out);
  b.vector_for(b.integer(0), b.size("n"),
               [&](Value i) { b.store(y, i, from_words(b, philox(b, b.integer(7), i, b.integer(3)), dtype_of<T>)); });
  std::vector<T> result(static_cast<size_t>(count));
  void* buffers[] = {result.data()};
  const int64_t dims[] = {count};
  interpret(b.finish(), nullptr, buffers, dims, nullptr);
  return result;
}

double moment(const auto& numbers, int power) {
  double sum = 0;
  for (double x : numbers) sum += std::pow(x, power);
  return sum / static_cast<double>(numbers.size());
}

template <class T>
void expect_uniform() {
  const std::vector<T> numbers = draw<T>(uniform_from_words, 40000);
  for (T x : numbers) ASSERT_TRUE(x >= 0 && x < 1);
  EXPECT_NEAR(moment(numbers, 1), 0.5, 0.006);
  EXPECT_NEAR(moment(numbers, 2), 1.0 / 3, 0.006);
  EXPECT_NEAR(moment(numbers, 3), 0.25, 0.006);
}

template <class T>
void expect_normal() {
  const std::vector<T> numbers = draw<T>(normal_from_words, 40000);
  EXPECT_NEAR(moment(numbers, 1), 0, 0.02);
  EXPECT_NEAR(moment(numbers, 2), 1, 0.03);
  EXPECT_NEAR(moment(numbers, 3), 0, 0.08);
  EXPECT_NEAR(moment(numbers, 4), 3, 0.2);
  // The share within one, two and three deviations.
  const double expected[] = {0.682689, 0.954500, 0.997300};
  for (int k = 1; k <= 3; ++k) {
    double inside = 0;
    for (T x : numbers) inside += std::fabs(x) < k ? 1 : 0;
    EXPECT_NEAR(inside / static_cast<double>(numbers.size()), expected[k - 1], 0.01);
  }
}

TEST(Random, uniform_numbers_fill_zero_to_one) {
  expect_uniform<float>();
  expect_uniform<double>();
}

TEST(Random, normal_numbers_have_the_moments_and_shares_of_the_distribution) {
  expect_normal<float>();
  expect_normal<double>();
}

}  // namespace
}  // namespace anyshape::loop
