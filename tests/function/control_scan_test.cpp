// scan: loops of any length in one node; values and gradients against eager loops and finite differences.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace anyshape::test {
namespace {

// A small recurrent cell: h [batch, 3], xs [time, batch, 2].
struct Cell {
  Tensor w = tensor({{0.3, -0.2, 0.5}, {0.1, 0.4, -0.6}});
  Tensor u = tensor({{0.2, 0.1, -0.3}, {0.6, -0.1, 0.2}, {0.05, 0.4, -0.5}});
  std::pair<Tensor, Tensor> run(const Tensor& xs, const Tensor& h, bool reverse = false) const {
    return scan(
        [&](const Tensor& carry, const Tensor& x) {
          const Tensor next = tanh(matmul(x, w) + matmul(carry, u));
          return std::pair(next, next * 2.0);
        },
        h, xs, {.reverse = reverse});
  }
};

Tensor inputs(int64_t time, int64_t batch) { return sin(reshape(cast(arange(time * batch * 2), f64) * 0.7, {time, batch, 2})); }

TEST(Scan, runs_any_length_in_one_trace) {
  const Cell cell;
  for (const bool reverse : {false, true}) {
    auto traced = function([&](Tensor xs, Tensor h) { return cell.run(xs, h, reverse); });
    for (const int64_t time : {3, 1, 0, 8, 7}) {
      for (const int64_t batch : {1, 0, 4}) {
        const Tensor xs = inputs(time, batch), h = full({batch, 3}, 0.25) * 1.0;
        const auto [last, all] = traced(xs, cast(h, f64));
        const auto [expected_last, expected_all] = cell.run(xs, cast(h, f64), reverse);
        EXPECT_TRUE(all_close(last, expected_last, {.relative = 1e-12})) << time << " " << batch;
        EXPECT_TRUE(all_close(all, expected_all, {.relative = 1e-12})) << time << " " << batch;
      }
    }
    EXPECT_EQ(traced.stats().traces, 1);
  }
}

TEST(Scan, has_gradients_of_carry_sequence_and_captured_tensors) {
  Cell cell;
  const auto gradients = [&](const Tensor& xs, const Tensor& h, const Tensor& u) -> std::vector<Tensor> {
    GradientTape tape;
    for (const Tensor& each : {xs, h, u}) tape.watch(each);
    Cell own = cell;
    own.u = u;
    const auto [last, all] = own.run(xs, h);
    const Tensor loss = sum(last * last) + sum(all * cast(size(xs, 0), f64)) * 0.5 + sum(sin(all));
    return tape.gradient(loss, std::vector<Tensor>{xs, h, u}, {.unreached = Unreached::Zeros});
  };
  auto traced = function([&](Tensor xs, Tensor h, Tensor u) { return gradients(xs, h, u); });
  for (const int64_t time : {4, 0, 1, 9}) {
    const Tensor xs = inputs(time, 2), h = cast(full({2, 3}, 0.25), f64);
    const std::vector<Tensor> got = traced(xs, h, cell.u), expected = gradients(xs, h, cell.u);
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(all_close(got[i], expected[i], {.relative = 1e-10, .absolute = 1e-12})) << time << " " << i;
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(Scan, has_gradients_that_finite_differences_confirm) {
  const Cell cell;
  const Tensor xs = inputs(5, 2), h = cast(full({2, 3}, 0.25), f64);
  auto value = function([&](Tensor h0) { return sum(cell.run(xs, h0).second) * 1.0; });
  auto gradient = function([&](Tensor h0) {
    GradientTape tape;
    tape.watch(h0);
    return tape.gradient(sum(cell.run(xs, h0).second), h0);
  });
  const std::vector<double> got = gradient(h).to_vector<double>();
  for (size_t i = 0; i < got.size(); ++i) {
    std::vector<double> up = h.to_vector<double>(), down = up;
    up[i] += 1e-5, down[i] -= 1e-5;
    const double slope = (value(tensor(up, Shape{2, 3})).item<double>() - value(tensor(down, Shape{2, 3})).item<double>()) / 2e-5;
    EXPECT_NEAR(got[i], slope, 1e-7);
  }
}

TEST(Scan, has_second_derivatives) {
  const auto second = [](const Tensor& x) {
    GradientTape outer;
    outer.watch(x);
    GradientTape inner;
    inner.watch(x);
    const auto [last, all] =
        scan([&](const Tensor& c, const Tensor& s) { return std::pair(c * x + s, c * c); }, x * 0.5, stack({x, x * x, x}));
    const Tensor first = inner.gradient(sum(last) + sum(all), x);
    return outer.gradient(sum(first * first), x);
  };
  auto traced = function([&](Tensor x) { return second(x); });
  const Tensor x = tensor({0.4, -0.7, 1.1});
  EXPECT_TRUE(all_close(traced(x), second(x), {.relative = 1e-10}));
}

TEST(Scan, does_not_unroll) {
  auto steps = function(
      [](Tensor x) { return scan([&](const Tensor& c) { return std::pair(c + x, std::vector<Tensor>()); }, x, {.length = 1000}).first; });
  EXPECT_TRUE(all_equal(steps(ones({2})), full({2}, 1001.0f)));
  const std::string graph = steps.traces()[0].graph;
  EXPECT_LT(std::ranges::count(graph, '\n'), 12) << graph;
}

TEST(Scan, carries_several_values_of_any_structure) {
  using State = std::tuple<Tensor, std::vector<Tensor>>;
  const auto run = [](const Tensor& xs, const Tensor& ys) {
    const State initial{cast(zeros({}), f32), {ones({2}), cast(arange(2), i32)}};
    return scan(
        [](const State& state, const std::pair<Tensor, Tensor>& slices) {
          const auto& [sum_so_far, others] = state;
          return std::pair(State{sum_so_far + sum(slices.first), {others[0] * slices.second, others[1] + 1}},
                           std::vector<Tensor>{sum_so_far, others[1]});
        },
        initial, std::pair(xs, ys));
  };
  auto traced = function([&](Tensor xs, Tensor ys) {
    auto [state, outputs] = run(xs, ys);
    return std::vector<Tensor>{std::get<0>(state), std::get<1>(state)[0], std::get<1>(state)[1], outputs[0], outputs[1]};
  });
  for (const int64_t time : {0, 1, 4}) {
    const Tensor xs = reshape(cast(arange(time * 3), f32), {time, 3}), ys = xs + 1.0f;
    const std::vector<Tensor> got = traced(xs, slice(ys, {{}, {.end = 2}}));
    auto [state, outputs] = run(xs, slice(ys, {{}, {.end = 2}}));
    EXPECT_TRUE(all_equal(got[0], std::get<0>(state)));
    EXPECT_TRUE(all_equal(got[1], std::get<1>(state)[0]));
    EXPECT_TRUE(all_equal(got[2], std::get<1>(state)[1]));
    EXPECT_TRUE(all_equal(got[3], outputs[0]));
    EXPECT_TRUE(all_equal(got[4], outputs[1]));
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(Scan, exchanges_and_hands_through_carries) {
  auto traced = function([](Tensor a, Tensor b, Tensor xs) {
    using State = std::vector<Tensor>;
    auto [state, outputs] =
        scan([&](const State& s, const Tensor& x) { return std::pair(State{s[1], s[0], s[2]}, x); }, State{a, b, a}, xs);
    return std::vector<Tensor>{state[0], state[1], state[2], outputs};
  });
  const Tensor a = tensor({1.0f}), b = tensor({2.0f});
  for (const int64_t time : {0, 1, 2, 5}) {
    const Tensor xs = cast(arange(time), f32);
    const std::vector<Tensor> got = traced(a, b, xs);
    EXPECT_TRUE(all_equal(got[0], time % 2 == 0 ? a : b));
    EXPECT_TRUE(all_equal(got[1], time % 2 == 0 ? b : a));
    EXPECT_TRUE(all_equal(got[2], a));
    EXPECT_TRUE(all_equal(got[3], xs));
  }
}

TEST(Scan, assigns_variables_step_by_step) {
  const Variable total(tensor({1.0f}), {.name = "total"});
  auto traced = function([&](Tensor xs) {
    const Tensor before = total.read();
    return scan(
               [&](const Tensor& c, const Tensor& x) {
                 total.assign(total.read() * 2.0f + x);
                 return std::pair(c + before, total.read() + 0.0f);
               },
               zeros({1}), xs)
        .second;
  });
  EXPECT_TRUE(all_equal(traced(tensor({{1.0f}, {1.0f}})), tensor({{3.0f}, {7.0f}})));
  EXPECT_TRUE(all_equal(total.read(), tensor({7.0f})));
  traced(zeros({0, 1}));
  EXPECT_TRUE(all_equal(total.read(), tensor({7.0f})));
}

TEST(Scan, nests_with_branches_inside) {
  const auto run = [](const Tensor& xs) {
    return scan(
               [](const Tensor& c, const Tensor& row) {
                 const Tensor inner = scan([&](const Tensor& d, const Tensor& x) { return std::pair(d + x * c, d); }, c * 0.5, row).first;
                 const Tensor next = cond(inner > 1.0, [&] { return inner * 0.1; }, [&] { return inner + 0.3; });
                 return std::pair(next, next * c);
               },
               xs.shape().rank() > 0 ? sum(xs) * 0.01 : xs, xs)
        .second;
  };
  const auto gradient = [&](const Tensor& xs) {
    GradientTape tape;
    tape.watch(xs);
    return tape.gradient(sum(run(xs)), xs, {.unreached = Unreached::Zeros});
  };
  auto traced = function([&](Tensor xs) { return std::pair(run(xs), gradient(xs)); });
  for (const int64_t rows : {3, 0, 1, 5}) {
    const Tensor xs = cos(reshape(cast(arange(rows * 4), f64), {rows, 4}));
    const auto [value, slope] = traced(xs);
    EXPECT_TRUE(all_close(value, run(xs), {.relative = 1e-12, .absolute = 1e-14}));
    EXPECT_TRUE(all_close(slope, gradient(xs), {.relative = 1e-10, .absolute = 1e-14}));
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(Scan, draws_other_random_numbers_at_every_step_and_the_same_for_its_gradient) {
  auto traced = function([](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    const auto [last, all] = scan(
        [&](const Tensor& c) {
          const Tensor noise = random::normal({}, {.dtype = f64});
          return std::pair(c + noise * x, noise + 0.0);
        },
        x * 0.0, {.length = 5});
    return std::vector<Tensor>{all, tape.gradient(last, x)};
  });
  const std::vector<Tensor> got = traced(Tensor(cast(tensor({2.0}), f64)));
  std::vector<double> noise = got[0].to_vector<double>();
  EXPECT_NEAR(sum(got[0]).item<double>(), got[1].item<double>(), 1e-12);
  std::ranges::sort(noise);
  EXPECT_EQ(std::ranges::adjacent_find(noise), noise.end());
}

TEST(Scan, says_what_does_not_fit) {
  const auto text = [](auto body) {
    auto traced = function([&](Tensor x) { return scan(body, x, stack({x, x})).first; });
    return text_of<ShapeError>([&] { traced(ones({2})); });
  };
  EXPECT_NE(text([](const Tensor& c, const Tensor&) {
              return std::pair(sum(c), c);
            }).find("scan: carry 0 is f32[a0] before a step and f32[] after it; expected the same dtype and shape in every step."),
            std::string::npos);
  const std::string grown = text([](const Tensor& c, const Tensor&) { return std::pair(concat({c, c}), c); });
  EXPECT_NE(grown.find("scan: carry 0 is f32[a0] before a step and f32[2 * a0] after it"), std::string::npos) << grown;
  EXPECT_NE(
      grown.find("expected the same dtype and shape in every step. What grows by a part per step is returned as the step's output, which "
                 "scan stacks"),
      std::string::npos)
      << grown;
  EXPECT_NE(text_of<ShapeError>([] {
              scan([](const Tensor& c, const Tensor&) { return std::pair(sum(c), c); }, ones({2}), ones({3}));
            }).find("scan: carry 0 is f32[2] before a step and f32[] after it"),
            std::string::npos);
  EXPECT_NE(text_of<ArgumentError>([] {
              scan([](const Tensor& c) { return std::pair(c, c); }, ones({2}), {});
            }).find("scan: there is no sequence and no length"),
            std::string::npos);
  EXPECT_NE(text_of<ShapeError>([] {
              scan([](const Tensor& c, const std::vector<Tensor>&) { return std::pair(c, c); }, ones({2}),
                   std::vector<Tensor>{ones({3}), ones({4})});
            }).find("scan: sequence 1 is f32[4]; expected 3 steps"),
            std::string::npos);
  auto lengths = function([](Tensor x, Tensor y) {
    return scan([](const Tensor& c, const std::vector<Tensor>& s) { return std::pair(c + s[0] + s[1], c); }, zeros({}),
                std::vector<Tensor>{x, y})
        .first;
  });
  EXPECT_EQ(lengths(ones({3}), ones({3})).item<float>(), 6.0f);
  EXPECT_NE(text_of<ShapeError>([&] { lengths(ones({3}), ones({4})); }).find("sequence 1 has another length"), std::string::npos);
}

}  // namespace
}  // namespace anyshape::test
