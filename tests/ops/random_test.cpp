// Distributions: moments, bounds and counts with fixed seeds; the same numbers eagerly, compiled and interpreted.
#include "function/compile.h"
#include "ops/expect_error.h"

#include <anyshape/anyshape.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace anyshape {
namespace {

using Integers = std::vector<int32_t>;

// The sum of (seen - expected)^2 / expected: about its number of cells less one, and twice that only once in thousands of seeds.
double chi_square(const Integers& draws, const std::vector<double>& chances) {
  std::vector<double> seen(chances.size());
  for (const int32_t draw : draws) seen.at(static_cast<size_t>(draw)) += 1;
  double total = 0;
  for (size_t i = 0; i < chances.size(); ++i) {
    const double expected = chances[i] * static_cast<double>(draws.size());
    if (expected == 0) {
      EXPECT_EQ(seen[i], 0) << "cell " << i << " has no chance";
    } else {
      total += (seen[i] - expected) * (seen[i] - expected) / expected;
    }
  }
  return total;
}

TEST(Uniform, never_reaches_its_upper_bound) {
  const auto check = [](double low, double high, Dtype dtype) {
    const Tensor x = cast(random::uniform({20'000}, {.low = low, .high = high, .dtype = dtype}), f64);
    EXPECT_LT(max(x).item<double>(), high) << low << " to " << high << " " << to_string(dtype);
    EXPECT_GE(min(x).item<double>(), low) << low << " to " << high << " " << to_string(dtype);
    auto traced = function([=](Tensor like) { return random::uniform(like.shape(), {.low = low, .high = high, .dtype = dtype}); });
    EXPECT_LT(cast(max(traced(zeros({20'000}))), f64).item<double>(), high) << "traced";
  };
  for (const double low : {1.0, -1.0, 100.0, -3.0}) {
    check(low, low + 0x1p-16, f32);  // few numbers: rounding up reaches the last one in one draw of many
    check(low, low + 0x1p-45, f64);
    check(low, low + 1, f32);
  }
  EXPECT_EQ(max(random::uniform({100}, {.low = 2, .high = 2})).item<float>(), 2.0F) << "an interval of one number";
  expect_error<ArgumentError>([] { random::uniform({2}, {.low = 0, .high = std::numeric_limits<double>::infinity()}); },
                              "random::uniform: low is 0 and high is inf; expected bounds whose distance is finite.");
}

TEST(TruncatedNormal, is_the_normal_distribution_between_two_deviations) {
  for (const Dtype dtype : {f32, f64}) {
    random::set_seed(3);
    const Tensor x = cast(random::truncated_normal({100000}, {.dtype = dtype}), f64);
    EXPECT_EQ(random::truncated_normal({2}, {.dtype = dtype}).dtype(), dtype);
    const std::vector<double> values = x.to_vector<double>();
    Integers cells;
    std::vector<double> chances;
    const double inside = std::erf(std::sqrt(2.0));
    for (int cell = 0; cell < 16; ++cell) {
      const double begin = -2 + cell / 4.0;
      chances.push_back((std::erf((begin + 0.25) / std::sqrt(2.0)) - std::erf(begin / std::sqrt(2.0))) / 2 / inside);
    }
    for (const double value : values) {
      ASSERT_LE(std::abs(value), 2);
      cells.push_back(std::min(15, static_cast<int>(std::floor((value + 2) * 4))));
    }
    EXPECT_LT(chi_square(cells, chances), 45);
    EXPECT_NEAR(mean(x).item<double>(), 0, 0.01);
    EXPECT_NEAR(std::sqrt(mean(x * x).item<double>()), 0.87962566, 0.01);
  }
}

TEST(TruncatedNormal, takes_mean_and_deviation) {
  random::set_seed(4);
  const Tensor x = random::truncated_normal({20000}, {.mean = 5, .deviation = 0.5});
  EXPECT_NEAR(mean(x).item<float>(), 5, 0.02);
  EXPECT_GE(-max(-x).item<float>(), 4);
  EXPECT_LE(max(x).item<float>(), 6);
  EXPECT_TRUE(random::truncated_normal({0, 2}).shape() == (Shape{0, 2}));
  expect_error<ArgumentError>([] { random::truncated_normal({2}, {.deviation = -1}); },
                              "random::truncated_normal: deviation is -1; expected a number of at least 0.");
  expect_error<DtypeError>([] { random::truncated_normal({2}, {.dtype = i32}); },
                           "random::truncated_normal: random numbers of dtype i32; expected f32 or f64. Make f32 and cast it.");
}

TEST(Integers, are_equally_likely_within_their_bounds) {
  random::set_seed(5);
  const Tensor x = random::integers({100000}, {.low = -3, .high = 7});
  EXPECT_EQ(x.dtype(), i32);
  EXPECT_LT(chi_square((x + 3).to_vector<int32_t>(), std::vector<double>(10, 0.1)), 30);
  EXPECT_EQ(random::integers({5}, {.low = 4, .high = 5}).to_vector<int32_t>(), Integers(5, 4));
  EXPECT_EQ(random::integers({2}, {.high = 256, .dtype = u8}).dtype(), u8);
}

TEST(Integers, reach_the_ends_of_wide_ranges) {
  random::set_seed(6);
  const std::vector<int64_t> wide =
      random::integers({10000}, {.low = -(int64_t{1} << 61), .high = int64_t{1} << 61, .dtype = i64}).to_vector<int64_t>();
  const double end = std::ldexp(1.0, 61);
  double total = 0;
  for (const int64_t value : wide) total += static_cast<double>(value) / end / 10000;
  EXPECT_NEAR(total, 0, 0.03);
  EXPECT_LT(static_cast<double>(std::ranges::min(wide)), -0.99 * end);
  EXPECT_GT(static_cast<double>(std::ranges::max(wide)), 0.99 * end);
  const Integers all = random::integers({10000}, {.low = INT32_MIN, .high = int64_t{INT32_MAX} + 1}).to_vector<int32_t>();
  EXPECT_LT(std::ranges::min(all), -2100000000);
  EXPECT_GT(std::ranges::max(all), 2100000000);
}

TEST(Integers, refuse_bounds_that_hold_nothing_or_do_not_fit) {
  expect_error<ShapeError>([] { random::integers({2}, {}); }, "random::integers: low is 0 and high is 0; expected low < high.");
  expect_error<ShapeError>([] { random::integers({2}, {.high = int64_t{1} << 32}); },
                           "random::integers: low is 0 and high is 4294967296; expected bounds from -2147483648 to 2147483647 for i32.");
  expect_error<DtypeError>([] { random::integers({2}, {.high = 2, .dtype = f32}); },
                           "random::integers: random integers of dtype f32; expected u8, i32 or i64.");
}

TEST(Bernoulli, is_true_with_its_probability) {
  random::set_seed(7);
  const Tensor x = random::bernoulli({100000}, {.probability = 0.3});
  EXPECT_EQ(x.dtype(), b8);
  EXPECT_NEAR(mean(cast(x, f32)).item<float>(), 0.3, 0.01);
  EXPECT_EQ(sum(random::bernoulli({1000}, {.probability = 0, .dtype = i32})).item<int32_t>(), 0);
  EXPECT_EQ(sum(random::bernoulli({1000}, {.probability = 1, .dtype = i32})).item<int32_t>(), 1000);
  expect_error<ArgumentError>([] { random::bernoulli({2}, {.probability = 1.5}); },
                              "random::bernoulli: probability is 1.5; expected a number from 0 to 1.");
  EXPECT_THROW(random::bernoulli({2}, {.probability = std::numeric_limits<double>::quiet_NaN()}), ArgumentError);
}

TEST(Categorical, draws_classes_by_their_chances) {
  random::set_seed(8);
  constexpr float never = -std::numeric_limits<float>::infinity();
  const Tensor logits = tensor({{std::log(1.F), std::log(2.F), never, std::log(5.F)}, {1000.F, never, 1000.F, never}});
  const Tensor x = random::categorical(logits, 50000);
  ASSERT_TRUE(x.shape() == (Shape{2, 50000}));
  const Integers draws = x.to_vector<int32_t>();
  EXPECT_LT(chi_square({draws.begin(), draws.begin() + 50000}, {0.125, 0.25, 0, 0.625}), 20);
  EXPECT_LT(chi_square({draws.begin() + 50000, draws.end()}, {0.5, 0, 0.5, 0}), 15);
  EXPECT_EQ(random::categorical(tensor({3.0}), 4).to_vector<int32_t>(), Integers(4, 0)) << "one class";
  EXPECT_TRUE(random::categorical(ones({0, 3}), 2).shape() == (Shape{0, 2}));
  EXPECT_TRUE(random::categorical(ones({2, 3}), 0).shape() == (Shape{2, 0}));
}

TEST(Categorical, refuses_bad_logits_and_counts) {
  expect_error<ShapeError>([] { random::categorical(ones({}), 2); },
                           "random::categorical: there is no axis of classes: x is f32[]; expected logits of at least rank 1.");
  expect_error<ShapeError>([] { random::categorical(ones({2}), -1); },
                           "random::categorical: count is -1: x is f32[2]; expected 0 or more.");
  EXPECT_THROW(random::categorical(ones({2, 0}), 1), ShapeError);
}

TEST(Permutation, holds_every_number_once_in_any_order) {
  random::set_seed(9);
  for (const int n : {0, 1, 2, 1000}) {
    const Tensor x = random::permutation(n);
    EXPECT_TRUE(all_equal(sort(x), arange(n))) << n;
    EXPECT_EQ(x.dtype(), i32);
  }
  Integers orders;  // of three: six of them, by the positions of 0 and 1
  for (int i = 0; i < 3000; ++i) {
    const Integers order = random::permutation(3).to_vector<int32_t>();
    orders.push_back(order[0] * 2 + (order[1] > order[2] ? 1 : 0));
  }
  EXPECT_LT(chi_square(orders, std::vector<double>(6, 1.0 / 6)), 25);
  EXPECT_THROW(random::permutation(-1), ShapeError);
}

TEST(Shuffle, moves_whole_slices) {
  random::set_seed(10);
  const Tensor x = reshape(arange(200), {100, 2});
  const Tensor shuffled = random::shuffle(x);
  EXPECT_FALSE(all_equal(shuffled, x));
  EXPECT_TRUE(all_equal(sort(shuffled, {.axis = 0}), x));
  EXPECT_TRUE(all_equal(sort(random::shuffle(x, {.axis = 1})), x));
}

TEST(Random, gives_the_same_numbers_eagerly_compiled_and_interpreted) {
  const std::vector<std::function<Tensor(Dim)>> makers = {
      [](Dim n) { return random::truncated_normal({n}); },
      [](Dim n) { return random::truncated_normal({n}, {.dtype = f64}); },
      [](Dim n) { return random::integers({n, 3}, {.low = -5, .high = 1000}); },
      [](Dim n) { return random::integers({n}, {.high = n + 1, .dtype = i64}); },
      [](Dim n) { return random::bernoulli({n}); },
      [](Dim n) { return random::permutation(n); },
  };
  for (size_t i = 0; i < makers.size(); ++i) {
    for (const bool interpret : {false, true}) {
      std::optional<function_detail::ScopedInterpretation> interpretation;
      if (interpret) interpretation.emplace();
      auto made = function([&](Tensor like) { return makers[i](like.shape()[0]); }, {.name = "made"});
      for (const int n : {100, 0, 1, 20000}) {
        if (interpret && n > 100) continue;
        random::set_seed(11);
        const Tensor eager = makers[i](n);
        random::set_seed(11);
        EXPECT_TRUE(all_equal(made(zeros({n})), eager)) << "maker " << i << " size " << n << (interpret ? " interpreted" : "");
      }
      EXPECT_EQ(made.stats().traces, 1);
    }
  }
}

}  // namespace
}  // namespace anyshape
