// A plain `if` on a tensor inside a traced function: both outcomes in one trace, joined where the callable returns.
#include "function/compile.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace anyshape::test {
namespace {

Tensor branching(const Tensor& x) {
  const Tensor scaled = x * 2.0;
  if (mean(scaled) > 1.0) return relu(scaled);
  return sigmoid(scaled);
}

int64_t nodes(const TraceRecord& record) { return std::ranges::count(record.graph, '='); }

TEST(If, takes_the_branch_of_the_value_in_one_trace) {
  auto traced = function([](Tensor x) { return branching(x); });
  for (const double level : {2.0, -2.0, 0.25}) {
    for (const int64_t n : {0, 1, 6}) {
      const Tensor x = cast(full({n}, level), f64);
      EXPECT_TRUE(all_equal(traced(x), branching(x))) << level << " " << n;
    }
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(If, may_come_several_times_and_in_any_branch) {
  const auto path = [](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < 3; ++i) {
      if (sum(y) > 1.0 * i) {
        y = y * 0.5 + 0.25;
      } else if (max(y) > 0.0) {
        y = y + x * 2.0;
      }
    }
    return y;
  };
  auto traced = function([&](Tensor x) { return path(x); });
  for (const double level : {0.01, 0.3, 0.6, 1.0, 3.0, 9.0, -1.0}) {
    const Tensor x = tensor({0.9, 1.0}) * level;
    EXPECT_TRUE(all_close(traced(x), path(x), {.relative = 1e-12})) << level;
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(If, adds_one_branch_where_one_of_ten_inner_functions_has_one) {
  auto plain = function([](Tensor x) { return tanh(x) * 2.0f + x; });
  auto with_branch = function([](Tensor x) {
    if (sum(x) > 0.0f) return x + 1.0f;
    return x - 1.0f;
  });
  auto chain = [&](int at) {
    return function([&plain, &with_branch, at](Tensor x) {
      for (int i = 0; i < 10; ++i) x = i == at ? with_branch(x) : plain(x);
      return x;
    });
  };
  auto without = chain(-1), early = chain(1), late = chain(8);
  const Tensor x = tensor({0.1f, -0.3f});
  without(x), late(x);
  EXPECT_TRUE(all_close(early(x), [&] {
    Tensor y = x;
    for (int i = 0; i < 10; ++i) y = i == 1 ? (static_cast<bool>(sum(y) > 0.0f) ? y + 1.0f : y - 1.0f) : tanh(y) * 2.0f + y;
    return y;
  }()));
  const int64_t base = nodes(without.traces()[0]);
  EXPECT_LT(nodes(early.traces()[0]), base + 14) << early.traces()[0].graph;
  EXPECT_EQ(nodes(early.traces()[0]), nodes(late.traces()[0]));
}

TEST(If, has_gradients_with_the_tape_inside_and_outside) {
  const Variable w(tensor({0.5, 2.0}), {.name = "w"});
  auto layer = function([&](Tensor x) {
    const Tensor h = x * w.read();
    if (sum(h) > 1.0) return h * h;
    return sin(h) * w.read();
  });
  const auto outside = [&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = sum(layer(x) * x);
    return std::vector<Tensor>{tape.gradient(y, std::vector<Variable>{w})[0]};
  };
  const auto inside = [&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = x * x * w.read();
    if (sum(y) > 1.0) {
      y = y * 3.0;
    } else {
      y = exp(y);
    }
    return tape.gradient(sum(y), x);
  };
  auto traced = function([&](Tensor x) { return std::pair(outside(x)[0], inside(x)); });
  for (const double level : {0.1, 2.0, -1.0}) {
    const Tensor x = tensor({0.8, 0.6}) * level;
    const auto [of_w, of_x] = traced(x);
    EXPECT_TRUE(all_close(of_w, outside(x)[0], {.relative = 1e-12})) << level;
    EXPECT_TRUE(all_close(of_x, inside(x), {.relative = 1e-12})) << level;
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(If, assigns_variables_of_the_path_taken) {
  const Variable count(tensor({0.0f})), best(tensor({0.0f}));
  auto traced = function([&](Tensor x) {
    count.assign_add(ones({1}));
    if (sum(x) > sum(best.read())) {
      best.assign(reshape(sum(x), {1}));
      return best.read() + count.read();
    }
    return count.read() + 0.0f;
  });
  EXPECT_TRUE(all_equal(traced(ones({3})), tensor({4.0f})));
  EXPECT_TRUE(all_equal(traced(ones({2})), tensor({2.0f})));
  EXPECT_TRUE(all_equal(traced(ones({5})), tensor({8.0f})));
  EXPECT_TRUE(all_equal(best.read(), tensor({5.0f})));
  EXPECT_TRUE(all_equal(count.read(), tensor({3.0f})));
}

TEST(If, stands_in_branches_and_loop_bodies) {
  const auto run = [](const Tensor& xs) {
    return scan(
               [](const Tensor& c, const Tensor& x) {
                 Tensor next = c + x;
                 if (next > 1.0) next = next * 0.5;
                 return std::pair(next, next * x);
               },
               Tensor(sum(xs) * 0.0), xs)
        .second;
  };
  auto traced = function([&](Tensor xs) {
    GradientTape tape;
    tape.watch(xs);
    const Tensor y = run(xs);
    return std::pair(y, tape.gradient(sum(y), xs));
  });
  const Tensor xs = tensor({0.4, 0.9, -0.3, 1.2, 0.1});
  GradientTape tape;
  tape.watch(xs);
  const Tensor expected = run(xs), slope = tape.gradient(sum(expected), xs);
  const auto [y, gradient] = traced(xs);
  EXPECT_TRUE(all_close(y, expected, {.relative = 1e-12}));
  EXPECT_TRUE(all_close(gradient, slope, {.relative = 1e-12}));
}

TEST(If, runs_interpreted_too) {
  const function_detail::ScopedInterpretation interpretation;
  auto traced = function([](Tensor x) { return branching(x); });
  for (const double level : {2.0, -2.0}) EXPECT_TRUE(all_equal(traced(tensor({level})), branching(tensor({level}))));
  EXPECT_GT(traced.stats().interpreted_groups, 0);
}

TEST(If, keeps_random_numbers_before_it) {
  auto traced = function([](Tensor x) {
    const Tensor noise = random::normal({3});
    if (sum(x) > 0.0f) return std::pair(noise + 0.0f, noise * 1.0f);
    return std::pair(noise * 1.0f, random::normal({3}));
  });
  const auto [a, b] = traced(ones({2}));
  EXPECT_TRUE(all_equal(a, b));
  const auto [c, d] = traced(-ones({2}));
  EXPECT_FALSE(all_equal(c, d));
}

TEST(If, as_a_loop_is_refused_and_while_loop_named) {
  auto endless = function(
      [](Tensor x) {
        while (sum(x) > 0.0f) x = x - 1.0f;
        return x;
      },
      {.name = "endless"});
  const std::string error = text_of<TraceError>([&] { endless(ones({2})); });
  EXPECT_NE(error.find("function \"endless\": more than 16 decisions on tensors"), std::string::npos) << error;
  EXPECT_NE(error.find("while_loop"), std::string::npos);
}

TEST(If, refuses_a_callable_that_is_not_the_same_twice) {
  int calls = 0;
  auto changing = function([&](Tensor x) {
    const Tensor y = x * static_cast<float>(++calls);
    if (sum(y) > 0.0f) return y;
    return x;
  });
  const std::string error = text_of<TraceError>([&] { changing(ones({2})); });
  EXPECT_NE(error.find("this run is not like the first"), std::string::npos) << error;
}

TEST(If, says_which_results_differ) {
  auto differing = function([](Tensor x) {
    if (sum(x) > 0.0f) return x;
    return sum(x);
  });
  const std::string error = text_of<TraceError>([&] { differing(ones({2})); });
  EXPECT_NE(error.find("result 0 is f32[a0] in one branch and f32[] in the other"), std::string::npos) << error;
}

TEST(If, of_a_throwing_branch_leaves_nothing_behind) {
  auto throwing = function([](Tensor x) {
    if (sum(x) > 0.0f) return x;
    throw ArgumentError("only positive sums");
  });
  EXPECT_THROW(throwing(ones({2})), ArgumentError);
  EXPECT_EQ(throwing.stats().traces, 0);
  EXPECT_TRUE(all_equal(branching(tensor({1.0})), relu(tensor({2.0}))));
}

TEST(If, may_follow_variables_that_the_first_call_makes) {
  std::optional<Variable> w;
  auto traced = function([&](Tensor x) {
    if (!w) w.emplace(random::normal({3}));
    if (sum(x) > 0.0f) return x * w->read();
    return x + w->read();
  });
  const Tensor positive = traced(ones({3})), negative = traced(-ones({3}));
  EXPECT_TRUE(all_equal(positive, w->read()));
  EXPECT_TRUE(all_equal(negative, w->read() - 1.0f));
  EXPECT_EQ(traced.stats().traces, 1);
}

}  // namespace
}  // namespace anyshape::test
