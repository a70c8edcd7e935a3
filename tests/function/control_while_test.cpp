// while_loop: loops on values, eager and traced; gradients where the number of iterations is limited.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

Tensor halved(const Tensor& x, WhileOptions options = {}) {
  return while_loop([](const Tensor& y) { return sum(y) > 1.0; }, [](const Tensor& y) { return y * 0.5; }, x, options);
}

TEST(While, runs_until_the_condition_fails_in_one_trace) {
  auto traced = function([](Tensor x) { return halved(x); });
  for (const int64_t n : {0, 1, 3, 4}) {
    for (const double level : {0.1, 1.0, 100.0}) {
      const Tensor x = cast(full({n}, level), f64);
      EXPECT_TRUE(all_equal(traced(x), halved(x))) << n << " " << level;
    }
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(While, stops_at_the_limit) {
  auto traced = function([](Tensor x) { return halved(x, {.max_iterations = 3}); });
  const Tensor x = tensor({1024.0});
  EXPECT_TRUE(all_equal(traced(x), tensor({128.0})));
  EXPECT_TRUE(all_equal(halved(x, {.max_iterations = 3}), tensor({128.0})));
  EXPECT_TRUE(all_equal(traced(tensor({1.5})), tensor({0.75})));
}

TEST(While, carries_values_of_any_structure) {
  using State = std::pair<Tensor, Tensor>;
  auto digits = function([](Tensor n) {
    return while_loop([](const State& s) { return s.first > 0; },
                      [](const State& s) { return State(floor_divide(s.first, 10), s.second + 1); }, State(n, Tensor(cast(zeros({}), i32))))
        .second;
  });
  EXPECT_EQ(digits(reshape(tensor({12345}), {})).item<int>(), 5);
  EXPECT_EQ(digits(reshape(tensor({0}), {})).item<int>(), 0);
}

TEST(While, assigns_variables_and_asks_for_their_present_value) {
  const Variable count(tensor({0.0f}));
  auto traced = function([&](Tensor limit) {
    return while_loop([&](const Tensor&) { return sum(count.read()) < sum(limit); },
                      [&](const Tensor& x) {
                        count.assign_add(ones({1}));
                        return x + count.read();
                      },
                      zeros({1}));
  });
  EXPECT_TRUE(all_equal(traced(tensor({4.0f})), tensor({10.0f})));
  EXPECT_TRUE(all_equal(count.read(), tensor({4.0f})));
  EXPECT_TRUE(all_equal(traced(tensor({4.0f})), tensor({0.0f})));
}

TEST(While, has_a_gradient_with_a_limit) {
  const auto slope = [](const Tensor& x, const Tensor& factor) {
    GradientTape tape;
    tape.watch(x);
    tape.watch(factor);
    const Tensor y = while_loop([&](const Tensor& z) { return sum(z) > 1.0; }, [&](const Tensor& z) { return z * factor * z / sum(z); }, x,
                                {.max_iterations = 20});
    return tape.gradient(sum(y * y), std::vector<Tensor>{x, factor}, {.unreached = Unreached::Zeros});
  };
  auto traced = function([&](Tensor x, Tensor factor) { return slope(x, factor); });
  for (const double level : {3.0, 0.2, 40.0}) {
    const Tensor x = tensor({0.7, 0.5, 0.9}) * level, factor = tensor({0.5, 0.9, 0.8});
    const std::vector<Tensor> got = traced(x, factor), expected = slope(x, factor);
    for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(all_close(got[i], expected[i], {.relative = 1e-10, .absolute = 1e-14})) << level << " " << i;
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(While, without_a_limit_has_no_gradient_and_names_scan) {
  auto traced = function([](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(sum(halved(x)), x);
  });
  const std::string error = text_of<ArgumentError>([&] { traced(tensor({3.0})); });
  EXPECT_NE(error.find("while_loop: a loop without a limit has no gradient; expected WhileOptions::max_iterations, or scan"),
            std::string::npos)
      << error;
}

TEST(While, says_what_does_not_fit) {
  auto ranks = function(
      [](Tensor x) { return while_loop([](const Tensor& y) { return sum(y) > 1.0f; }, [](const Tensor& y) { return sum(y); }, x); });
  EXPECT_NE(
      text_of<ShapeError>([&] { ranks(ones({3})); }).find("while_loop: carried value 0 is f32[a0] before an iteration and f32[] after it"),
      std::string::npos);
  EXPECT_NE(text_of<ArgumentError>([] { halved(ones({3}), {.max_iterations = -1}); }).find("max_iterations is -1"), std::string::npos);
  const Variable v(tensor({1.0f}), {.name = "v"});
  auto assigns = function([&](Tensor x) {
    return while_loop(
        [&](const Tensor& y) {
          v.assign(y);
          return sum(y) > 1.0f;
        },
        [](const Tensor& y) { return y * 0.5f; }, x);
  });
  EXPECT_NE(text_of<TraceError>([&] { assigns(ones({1})); }).find("the condition assigns variable \"v\""), std::string::npos);
}

}  // namespace
}  // namespace anyshape::test
