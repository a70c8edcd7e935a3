// The interpreter is the definition of the loop IR: every instruction with its corner values, every loop with its order.
#include "loop/interpret.h"

#include <anyshape/error.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "loop/kernel_runner.h"

namespace anyshape::loop {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float denormal = std::numeric_limits<float>::denorm_min();

// An expression of a and b over pairs of numbers; `to` is the result's dtype.
template <class To, class From>
std::vector<To> each(const std::string& expression, std::vector<From> a, std::vector<From> b = {}) {
  b.resize(a.size());
  std::vector<To> y(a.size());
  const std::string text = "kernel f(n) { in p: " + std::string(to_string(dtype_of<From>)) +
                           " in q: " + std::string(to_string(dtype_of<From>)) + " out y: " + std::string(to_string(dtype_of<To>)) +
                           " vector i in 0 .. n { a = p[i] b = q[i] y[i] = " + expression + " } }";
  run_text(text, {a.data(), b.data(), y.data()}, {static_cast<int64_t>(a.size())});
  return y;
}

std::vector<uint32_t> bits(const std::vector<float>& numbers) {
  std::vector<uint32_t> result;
  for (float number : numbers) result.push_back(std::bit_cast<uint32_t>(number));
  return result;
}

using I = std::vector<int32_t>;
using L = std::vector<int64_t>;
using F = std::vector<float>;
using U = std::vector<uint8_t>;

TEST(Interpret, integer_arithmetic_wraps) {
  const int32_t low = INT32_MIN;
  const int32_t high = INT32_MAX;
  EXPECT_EQ((each<int32_t, int32_t>("a + b", {high, 1}, {1, 2})), (I{low, 3}));
  EXPECT_EQ((each<int32_t, int32_t>("a - b", {low}, {1})), (I{high}));
  EXPECT_EQ((each<int32_t, int32_t>("a * b", {high, -3}, {2, 5})), (I{-2, -15}));
  EXPECT_EQ((each<int32_t, int32_t>("-a", {low, 5})), (I{low, -5}));
  EXPECT_EQ((each<int32_t, int32_t>("abs(a)", {low, -5, 5})), (I{low, 5, 5}));
  EXPECT_EQ((each<int64_t, int64_t>("a * b", {INT64_MAX}, {2})), (L{-2}));
  EXPECT_EQ((each<uint8_t, uint8_t>("a + b", {250, 1}, {10, 1})), (U{4, 2}));
  EXPECT_EQ((each<int32_t, int32_t>("min(a, b) * 100 + max(a, b)", {3, -4}, {-7, 9})), (I{-697, -391}));
}

TEST(Interpret, division_rounds_down_and_zero_gives_zero) {
  const I a = {7, -7, 7, -7, 7, INT32_MIN, 0, 6};
  const I b = {2, 2, -2, -2, 0, -1, 5, -3};
  EXPECT_EQ((each<int32_t, int32_t>("a // b", a, b)), (I{3, -4, -4, 3, 0, INT32_MIN, 0, -2}));
  EXPECT_EQ((each<int32_t, int32_t>("a % b", a, b)), (I{1, 1, -1, -1, 0, 0, 0, 0}));
  EXPECT_EQ((each<int64_t, int64_t>("a // b", {INT64_MIN, -1}, {-1, 1000})), (L{INT64_MIN, -1}));
  EXPECT_EQ((each<int64_t, int64_t>("a % b", {INT64_MIN, -1}, {-1, 1000})), (L{0, 999}));
}

TEST(Interpret, bits_and_shifts) {
  EXPECT_EQ((each<int32_t, int32_t>("a & b | a ^ b", {12}, {10})), (I{14}));
  EXPECT_EQ((each<int32_t, int32_t>("~a", {0, 5})), (I{-1, -6}));
  EXPECT_EQ((each<uint8_t, uint8_t>("~a", {0, 5})), (U{255, 250}));
  const I a = {1, -8, -8, 1, -8, 8};
  const I b = {31, 1, 31, 32, -1, 33};
  EXPECT_EQ((each<int32_t, int32_t>("a << b", a, b)), (I{INT32_MIN, -16, 0, 0, 0, 0}));
  EXPECT_EQ((each<int32_t, int32_t>("a >> b", a, b)), (I{0, -4, -1, 0, -1, 0}));
  EXPECT_EQ((each<int32_t, int32_t>("a >>> b", a, b)), (I{0, 0x7ffffffc, 1, 0, 0, 0}));
  EXPECT_EQ((each<int64_t, int64_t>("a >>> b", {-1, -1}, {63, 64})), (L{1, 0}));
  EXPECT_EQ((each<uint8_t, uint8_t>("a >> b", {200, 200}, {1, 9})), (U{100, 0}));
}

TEST(Interpret, float_minimum_and_maximum_keep_nan_and_the_first_of_equals) {
  const F a = {1, nan, 1, nan, 0.0F, -0.0F, inf, -inf};
  const F b = {2, 1, nan, nan, -0.0F, 0.0F, 1, 1};
  const F low = each<float, float>("min(a, b)", a, b);
  const F high = each<float, float>("max(a, b)", a, b);
  for (int i : {1, 2, 3}) EXPECT_TRUE(std::isnan(low[i]) && std::isnan(high[i])) << i;
  EXPECT_EQ(low[0], 1);
  EXPECT_EQ(high[0], 2);
  EXPECT_EQ(bits({low[4], low[5], high[4], high[5]}), bits({0.0F, -0.0F, 0.0F, -0.0F}));
  EXPECT_EQ(low[6], 1);
  EXPECT_EQ(high[7], 1);
}

TEST(Interpret, float_arithmetic_rounds_once_and_flushes_denormals) {
  EXPECT_EQ((each<float, float>("a / b", {1, -1, 0}, {0, 0, 5})), (F{inf, -inf, 0}));
  EXPECT_EQ((each<float, float>("a * b", {1e-30F}, {1e-10F})), (F{0}));
  EXPECT_EQ((each<float, float>("a + b", {denormal}, {0})), (F{0}));
  const float third = 1.0F / 3;
  EXPECT_EQ((each<float, float>("fma(a, b, -1.0)", {third}, {3}))[0], std::fma(third, 3.0F, -1.0F));
  EXPECT_NE((each<float, float>("fma(a, b, -1.0)", {third}, {3})), (each<float, float>("a * b - 1.0", {third}, {3})));
  EXPECT_EQ((each<float, float>("sqrt(a)", {4, 2})), (F{2, std::sqrt(2.0F)}));
  EXPECT_TRUE(std::isnan(each<float, float>("sqrt(a)", {-1})[0]));
  EXPECT_EQ(bits(each<float, float>("-a", {0, denormal})), bits({-0.0F, -denormal})) << "a sign is no arithmetic";
  EXPECT_EQ(bits(each<float, float>("abs(a)", {-0.0F, -inf})), bits({0.0F, inf}));
}

TEST(Interpret, rounding_of_floats) {
  const F a = {1.5F, 2.5F, -1.5F, -0.5F, 1e30F, denormal, -inf};
  EXPECT_EQ((each<float, float>("floor(a)", a)), (F{1, 2, -2, -1, 1e30F, 0, -inf}));
  EXPECT_EQ((each<float, float>("ceil(a)", a)), (F{2, 3, -1, 0, 1e30F, 0, -inf}));
  EXPECT_EQ((each<float, float>("trunc(a)", a)), (F{1, 2, -1, 0, 1e30F, 0, -inf}));
  EXPECT_EQ((each<float, float>("round(a)", a)), (F{2, 2, -2, 0, 1e30F, 0, -inf}));
}

TEST(Interpret, comparisons_with_nan_are_false_but_not_equal) {
  const auto truth = [](const std::string& expression) {
    return each<float, float>("select(" + expression + ", 1.0, 0.0)", {1, 2, nan, nan, 0.0F, denormal}, {2, 2, 1, nan, -0.0F, 0});
  };
  EXPECT_EQ(truth("a < b"), (F{1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(truth("a <= b"), (F{1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(truth("a == b"), (F{0, 1, 0, 0, 1, 1}));
  EXPECT_EQ(truth("a != b"), (F{1, 0, 1, 1, 0, 0}));
  EXPECT_EQ(truth("!(a < b) & (a == a)"), (F{0, 1, 0, 0, 1, 1}));
  EXPECT_EQ((each<int32_t, uint8_t>("i32(a < b)", {200}, {100})), (I{0})) << "u8 has no sign";
}

TEST(Interpret, casts_truncate_saturate_and_take_nan_to_zero) {
  const F a = {1.9F, -1.9F, 3e9F, -3e9F, nan, inf, -inf, 1e20F};
  EXPECT_EQ((each<int32_t, float>("i32(a)", a)), (I{1, -1, INT32_MAX, INT32_MIN, 0, INT32_MAX, INT32_MIN, INT32_MAX}));
  EXPECT_EQ((each<int64_t, float>("i64(a)", a)), (L{1, -1, 3000000000, -3000000000, 0, INT64_MAX, INT64_MIN, INT64_MAX}));
  EXPECT_EQ((each<uint8_t, float>("u8(a)", {-5, 3.7F, 255.9F, 300, nan})), (U{0, 3, 255, 255, 0}));
  EXPECT_EQ((each<int32_t, int64_t>("i32(a)", {0x100000005, -1})), (I{5, -1}));
  EXPECT_EQ((each<int64_t, int32_t>("i64(a)", {-7})), (L{-7}));
  EXPECT_EQ((each<float, int32_t>("f32(a)", {16777217, -3})), (F{16777216, -3}));
  EXPECT_EQ((each<float, double>("f32(a)", {1e-40, 1e300, 0.1})), (F{0, inf, 0.1F}));
  EXPECT_EQ((each<int32_t, float>("i32(b8(a))", {0, -0.0F, 2, nan, denormal})), (I{0, 0, 1, 1, 0}));
  EXPECT_EQ((each<float, int32_t>("f32(b8(a))", {0, 7})), (F{0, 1}));
  EXPECT_EQ((each<int32_t, float>("bitcast_i32(a)", {1.0F, -0.0F, denormal})), (I{0x3f800000, INT32_MIN, 1}));
}

float sum_in_lanes(std::span<const float> x, size_t count) {
  std::vector<float> lane(count);
  for (size_t i = 0; i < x.size(); ++i) lane[i % count] += x[i];
  for (size_t half = count / 2; half > 0; half /= 2) {
    for (size_t l = 0; l < half; ++l) lane[l] += lane[l + half];
  }
  return lane[0];
}

TEST(Interpret, reduce_adds_in_sixteen_lanes_and_a_fixed_tree) {
  std::vector<float> x;
  for (int i = 0; i < 400; ++i) x.push_back(std::sin(static_cast<float>(i * i)) * std::ldexp(1.0F, (i * 7) % 5));
  int other_orders = 0;
  for (size_t end = 5; end <= x.size(); ++end) {
    float y = 0;
    run_text("kernel f(n) { in x: f32 out y: f32 s = reduce sum i in 5 .. n { yield x[i] } y[0] = s }", {x.data(), &y},
             {static_cast<int64_t>(end)});
    const std::span<const float> part(x.data() + 5, end - 5);
    ASSERT_EQ(std::bit_cast<uint32_t>(y), std::bit_cast<uint32_t>(sum_in_lanes(part, 16))) << end;
    other_orders += y != sum_in_lanes(part, 8) && y != sum_in_lanes(part, 32) && y != sum_in_lanes(part, 1) ? 1 : 0;
  }
  EXPECT_GT(other_orders, 50) << "the numbers do not tell this order from others";
}

// Lanes begin anew after 1,024 indices: in every run a lane adds 64 numbers, and its sum is added to that of the runs before.
TEST(Interpret, reduce_adds_runs_of_1024_indices_in_order) {
  std::vector<float> x;
  for (int i = 0; i < 4200; ++i) x.push_back(std::sin(static_cast<float>(i * i)) * std::ldexp(1.0F, (i * 7) % 5));
  int other_orders = 0;
  for (const size_t count : {1023, 1024, 1025, 1039, 1041, 1500, 2047, 2048, 2049, 2065, 3072, 3073, 4000, 4195}) {
    float y = 0;
    run_text("kernel f(n) { in x: f32 out y: f32 s = reduce sum i in 5 .. n { yield x[i] } y[0] = s }", {x.data(), &y},
             {static_cast<int64_t>(count + 5)});
    std::array<float, 16> sums{};
    for (size_t begin = 0; begin < count; begin += 1024) {
      std::array<float, 16> lane{};
      for (size_t i = begin; i < std::min(begin + 1024, count); ++i) lane[i % 16] += x[5 + i];
      for (size_t l = 0; l < 16; ++l) sums[l] = begin == 0 ? lane[l] : sums[l] + lane[l];
    }
    const float expected = sum_in_lanes(sums, 16);
    ASSERT_EQ(std::bit_cast<uint32_t>(y), std::bit_cast<uint32_t>(expected)) << count;
    other_orders += y != sum_in_lanes(std::span(x).subspan(5, count), 16) ? 1 : 0;
  }
  EXPECT_GT(other_orders, 5) << "the numbers do not tell this order from others";
}

TEST(Interpret, empty_reductions_give_the_identity) {
  std::vector<float> x = {1};
  std::vector<int32_t> k = {1};
  std::vector<float> y(4);
  std::vector<int32_t> z(4);
  run_text(R"(kernel f(n) {
    in x: f32 in k: i32 out y: f32 out z: i32
    a, b, c, d = reduce sum, product, max, min i in 0 .. n { yield x[i], x[i], x[i], x[i] }
    y[0] = a y[1] = b y[2] = c y[3] = d
    e, f, g, h = reduce max, min, all, any i in 3 .. n { yield k[i], k[i], k[i] == 0, k[i] == 0 }
    z[0] = e z[1] = f z[2] = i32(g) z[3] = i32(h)
  })",
           {x.data(), k.data(), y.data(), z.data()}, {0});
  EXPECT_EQ(y, (F{0, 1, -inf, inf}));
  EXPECT_EQ(z, (I{INT32_MIN, INT32_MAX, 1, 0}));
}

TEST(Interpret, a_nan_anywhere_makes_a_maximum_nan) {
  for (size_t at = 0; at < 40; ++at) {
    std::vector<float> x(40, 1.0F);
    x[at] = nan;
    float y = 0;
    run_text("kernel f(n) { in x: f32 out y: f32 m = reduce max i in 0 .. n { yield x[i] } y[0] = m }", {x.data(), &y}, {40});
    EXPECT_TRUE(std::isnan(y)) << at;
  }
}

TEST(Interpret, serial_loops_carry_values_in_both_directions) {
  std::vector<int64_t> x = {1, 2, 3, 4};
  std::vector<int64_t> y(4);
  run_text(R"(kernel f(n) {
    in x: i64 out y: i64
    a, b = for t in 0 .. n carry (p = 0, q = 100) { next p * 10 + x[t], p }
    c = for t in reverse 0 .. n carry (p = 0) { next p * 10 + x[t] }
    d = for t in 4 .. 2 carry (p = 7) { next p + 1 }
    y[0] = a y[1] = b y[2] = c y[3] = d
  })",
           {x.data(), y.data()}, {4});
  EXPECT_EQ(y, (L{1234, 123, 4321, 7})) << "carried values change together, an empty loop keeps the initial ones";
}

TEST(Interpret, branches_and_b8_bytes) {
  std::vector<uint8_t> flags = {0, 1, 2, 255};
  std::vector<int64_t> y(4);
  run_text("kernel f(n) { in c: b8 out y: i64 for i in 0 .. n { if c[i] { y[i] = 10 + i64(c[i]) } else { y[i] = -1 } } }",
           {flags.data(), y.data()}, {4});
  EXPECT_EQ(y, (L{-1, 11, 11, 11}));
}

int32_t add_into(AsContext*, void* const* pointers, const int64_t* integers) {
  static_cast<int64_t*>(pointers[1])[0] += static_cast<int64_t*>(pointers[0])[0] * integers[0];
  return static_cast<int32_t>(integers[1]);
}
ExternFunction find_routine(std::string_view name) { return name == "add_into" ? add_into : nullptr; }

TEST(Interpret, calls_routines_with_offset_pointers_and_stops_at_the_first_failure) {
  std::vector<int64_t> x = {1, 2, 3};
  std::vector<int64_t> y = {10, 20, 30};
  const std::string text = R"(kernel f(n) { in x: i64 inout y: i64
    for i in 0 .. n { call add_into(x[i], y[n - 1 - i]; 100, i * 5) } })";
  EXPECT_EQ(run_text(text, {x.data(), y.data()}, {3}, find_routine), 5);
  EXPECT_EQ(y, (L{10, 220, 130}));
  EXPECT_THROW(run_text("kernel f() { call nothing() }", {}, {}, find_routine), InternalError);
  EXPECT_THROW(run_text(text, {x.data()}, {3}, find_routine), InternalError);
}

TEST(Interpret, softmax_over_ragged_rows) {
  std::vector<float> x = {1, 2, 3, 5, 5, -1};
  std::vector<int64_t> splits = {0, 3, 3, 5, 6};
  std::vector<float> y(6);
  run_text(R"(kernel softmax_rows(rows) {
    in x: f32
    in splits: i64
    out y: f32
    parallel r in 0 .. rows grain 1 {
      begin = splits[r]
      end = splits[r + 1]
      m = reduce max i in begin .. end { yield x[i] }
      s = reduce sum i in begin .. end { yield exp(x[i] - m) }
      vector i in begin .. end { y[i] = exp(x[i] - m) / s }
    }
  })",
           {x.data(), splits.data(), y.data()}, {4});
  const float total = std::exp(-2.0F) + std::exp(-1.0F) + 1;
  EXPECT_NEAR(y[0], std::exp(-2.0F) / total, 1e-7);
  EXPECT_NEAR(y[2], 1 / total, 1e-7);
  EXPECT_EQ(y[3], 0.5F);
  EXPECT_EQ(y[5], 1);
}

TEST(Interpret, loops_that_no_target_has_cut_run_whole) {
  std::vector<float> y(6);
  run_text(R"(kernel f(rows, columns) {
    inout y: f32
    ranges r, i .. j of rows, columns once work 1 { elements c in i .. j { y[r * columns + c] = f32(r * 10 + c) } }
    runs i .. j in 1 .. rows work columns { y[0] = y[0] + f32(100 * i + j) }
    each r in 0 .. rows work columns { y[r * columns + 1] = y[r * columns + 1] + 0.5 }
    ranges r, i .. j of rows, columns - columns once work 1 { y[0] = -1 }
  })",
           {y.data()}, {2, 3});
  EXPECT_EQ(y, (F{102, 1.5F, 2, 10, 11.5F, 12}));
}

TEST(Interpret, gives_the_callers_floating_point_state_back) {
  each<float, float>("a * b", {1e-30F}, {1e-10F});
  volatile float tiny = 1e-30F;
  EXPECT_NE(tiny * 1e-10F, 0);
}

}  // namespace
}  // namespace anyshape::loop
