// cond: the branch of the value, in one trace; gradients, variables, sizes, and what it refuses.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

Tensor chosen(const Tensor& x) {
  return cond(mean(x) > 0.5, [&] { return relu(x) * 2.0; }, [&] { return sigmoid(x); });
}

TEST(Cond, takes_the_branch_of_the_value_in_one_trace) {
  auto traced = function([](Tensor x) { return chosen(x); });
  for (const double level : {2.0, -2.0, 0.0}) {
    for (const int64_t n : {0, 1, 5}) {
      const Tensor x = full({n, 3}, level);
      EXPECT_TRUE(all_equal(traced(x), chosen(x))) << level << " " << n;
    }
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(Cond, gives_several_results_of_any_structure) {
  auto traced = function([](Tensor x) {
    auto [a, b] = cond(
        sum(x) > 0.0f, [&] { return std::pair(x + 1.0f, std::vector<Tensor>{x, x * 3.0f}); },
        [&] { return std::pair(x, std::vector<Tensor>{x * 2.0f, x}); });
    return std::vector<Tensor>{a, b[0], b[1]};
  });
  const Tensor x = tensor({1.0f, 2.0f});
  EXPECT_TRUE(all_equal(traced(x)[2], x * 3.0f));
  EXPECT_TRUE(all_equal(traced(-x)[1], x * -2.0f));
}

TEST(Cond, nests) {
  const auto nested = [](const Tensor& x) {
    return cond(
        sum(x) > 0.0f,
        [&] {
          const Tensor twice = x * 2.0f;
          return cond(max(x) > 5.0f, [&] { return twice + x; }, [&] { return twice - 1.0f; });
        },
        [&] { return cond(min(x) < -5.0f, [&] { return abs(x); }, [&] { return x; }); });
  };
  auto traced = function([&](Tensor x) { return nested(x); });
  for (const float scale : {1.0f, 7.0f, -1.0f, -7.0f}) {
    const Tensor x = tensor({0.5f, 1.0f}) * scale;
    EXPECT_TRUE(all_equal(traced(x), nested(x))) << scale;
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(Cond, has_the_gradient_of_the_branch_taken) {
  const Variable w(tensor({0.5, -1.5, 2.0}), {.name = "w"});
  const auto gradients = [&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor hidden = x * x;
    const Tensor y = cond(sum(x) > 0.0, [&] { return exp(hidden * w.read()); }, [&] { return hidden - w.read() * w.read() * x; });
    const Tensor total = sum(y * x);
    return std::pair(tape.gradient(total, x), total);
  };
  auto traced = function([&](Tensor x) { return gradients(x).first; });
  auto of_variable = function([&](Tensor x) {
    return value_and_gradients([&] { return sum(cond(sum(x) > 0.0, [&] { return exp(w.read()) * x; }, [&] { return x; })); }, {w})
        .second[0];
  });
  for (const double sign : {1.0, -1.0}) {
    const Tensor x = tensor({0.1, 0.7, 0.4}) * sign;
    EXPECT_TRUE(all_close(traced(x), gradients(x).first, {.relative = 1e-12})) << sign;
    const Tensor expected = sign > 0 ? exp(w.read()) * x : zeros_like(x);
    EXPECT_TRUE(all_close(of_variable(x), expected, {.relative = 1e-12})) << sign;
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(Cond, has_second_derivatives) {
  auto traced = function([](Tensor x) {
    GradientTape outer;
    outer.watch(x);
    GradientTape inner;
    inner.watch(x);
    const Tensor y = sum(cond(sum(x) > 0.0, [&] { return x * x * x; }, [&] { return sin(x); }));
    return outer.gradient(sum(inner.gradient(y, x)), x);
  });
  const Tensor x = tensor({0.3, 0.9});
  EXPECT_TRUE(all_close(traced(x), x * 6.0, {.relative = 1e-12}));
  EXPECT_TRUE(all_close(traced(-x), sin(x), {.relative = 1e-12}));
}

TEST(Cond, assigns_variables_of_the_branch_taken_only) {
  const Variable hits(tensor({0.0f})), misses(tensor({0.0f}));
  auto traced = function([&](Tensor x) {
    return cond(
        sum(x) > 0.0f,
        [&] {
          hits.assign_add(ones({1}));
          return hits.read() + 0.0f;
        },
        [&] {
          misses.assign_add(ones({1}) * 2.0f);
          return misses.read() + 0.0f;
        });
  });
  traced(ones({2}));
  EXPECT_TRUE(all_equal(traced(ones({3})), tensor({2.0f})));
  EXPECT_TRUE(all_equal(traced(-ones({3})), tensor({2.0f})));
  EXPECT_TRUE(all_equal(hits.read(), tensor({2.0f})));
  EXPECT_TRUE(all_equal(misses.read(), tensor({2.0f})));
}

TEST(Cond, without_results_is_for_assigning) {
  const Variable seen(tensor({0.0f}));
  auto traced = function([&](Tensor x) { cond(sum(x) > 0.0f, [&] { seen.assign(ones({1})); }, [&] {}); });
  traced(-ones({2}));
  EXPECT_TRUE(all_equal(seen.read(), tensor({0.0f})));
  traced(ones({2}));
  EXPECT_TRUE(all_equal(seen.read(), tensor({1.0f})));
}

TEST(Cond, checks_sizes_of_the_branch_taken_only) {
  auto traced =
      function([](Tensor x, Tensor y) { return cond(sum(x) > 0.0f, [&] { return sum(x * y); }, [&] { return sum(x) + sum(y); }); });
  EXPECT_EQ(traced(-ones({2}), ones({3})).item<float>(), 1.0f);
  EXPECT_EQ(traced(ones({3}), ones({3})).item<float>(), 3.0f);
  const std::string error = text_of<ShapeError>([&] { traced(ones({2}), ones({3})); });
  EXPECT_NE(error.find("multiply: shapes do not broadcast: a is f32[a0], b is f32[b0] with a0 = 2, b0 = 3"), std::string::npos) << error;
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(Cond, draws_the_same_random_numbers_when_a_gradient_computes_it_again) {
  auto traced = function([](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor noise = random::normal({4});
    const Tensor y = cond(sum(x) > 0.0f, [&] { return x * random::normal({4}); }, [&] { return x * noise; });
    return std::pair(y, tape.gradient(sum(y), x));
  });
  const auto [y, gradient] = traced(ones({4}));
  EXPECT_TRUE(all_equal(y, gradient));
  EXPECT_FALSE(all_equal(traced(ones({4})).first, y));
  const auto [other, other_gradient] = traced(-ones({4}));
  EXPECT_TRUE(all_equal(-other, other_gradient));
}

TEST(Cond, takes_host_numbers_in_the_dtype_of_the_other_branch) {
  auto traced = function([](Tensor x) { return cond(sum(x) > 0.0, [&] { return sum(x); }, [] { return Tensor(0.25); }); });
  EXPECT_EQ(traced(tensor({-1.0})).dtype(), f64);
  EXPECT_EQ(traced(tensor({-1.0})).item<double>(), 0.25);
}

TEST(Cond, says_what_does_not_fit) {
  auto dtypes = function([](Tensor x) { return cond(sum(x) > 0.0f, [&] { return x; }, [&] { return cast(x, i32); }); });
  EXPECT_NE(text_of<TraceError>([&] { dtypes(ones({2})); }).find("cond: result 0 is f32[a0] in one branch and i32[a0] in the other"),
            std::string::npos);
  auto sizes = function([](Tensor x) { return cond(sum(x) > 0.0f, [&] { return x; }, [&] { return concat({x, x}); }); });
  EXPECT_NE(text_of<ShapeError>([&] { sizes(ones({2})); }).find("result 0 of the branches is f32[a0] and f32[2 * a0]"), std::string::npos)
      << text_of<ShapeError>([&] { sizes(ones({2})); });
  auto numbers = function(
      [](Tensor x) { return cond(sum(x) > 0.0f, [&] { return std::vector<Tensor>{x}; }, [&] { return std::vector<Tensor>{x, x}; }); });
  EXPECT_NE(text_of<TraceError>([&] { numbers(ones({2})); }).find("the branches give 1 and 2 tensors"), std::string::npos);
  auto wide = function([](Tensor x) { return cond(x > 0.0f, [&] { return x; }, [&] { return x; }); },
                       {.name = "wide", .signature = {spec(f32, {2})}});
  EXPECT_NE(text_of<ShapeError>([&] { wide(ones({2})); }).find("cond: the condition is b8[2]; expected one element"), std::string::npos);
  Tensor leaked;
  auto leaking = function([&](Tensor x) {
    cond(sum(x) > 0.0f, [&] { return leaked = x * 2.0f; }, [&] { return x; });
    return leaked + 1.0f;
  });
  EXPECT_NE(text_of<TraceError>([&] { leaking(ones({2})); }).find("is of another trace"), std::string::npos);
}

TEST(Cond, runs_plainly_outside_a_trace) {
  int calls = 0;
  const Tensor result = cond(tensor({true}), [&] { return Tensor(++calls); }, [&] { return Tensor(calls += 10); });
  EXPECT_EQ(result.item<int>(), 1);
}

}  // namespace
}  // namespace anyshape::test
