// Loops whose rows do not meet run in blocks of rows: values, gradients and bits for any number of rows and threads.
#include "function/numbers.h"
#include "ops/control/scan.h"
#include "runtime/cpu/pool.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace anyshape::test {
namespace {

constexpr int64_t units = 5;

// An LSTM with what its body may do with rows: products, slices, joins, reductions, broadcasts, captured rows.
struct Cell {
  Tensor u, scale, rows;  // [units, 4 units], [units], [batch, units]
  std::pair<std::vector<Tensor>, Tensor> operator()(const std::vector<Tensor>& state, const Tensor& x) const {
    const Tensor z = x + matmul(state[0], u);
    const auto gate = [&](int64_t k) { return slice(z, {{}, {.begin = k * units, .end = (k + 1) * units}}); };
    const Tensor c = sigmoid(gate(0)) * state[1] + sigmoid(gate(1)) * tanh(gate(2)) * scale;
    const Tensor h = sigmoid(gate(3)) * tanh(c) + (rows.defined() ? rows : zeros_like(c)) * 0.1;
    const Tensor parts = concat({h, c}, {.axis = 1});
    return {{h, c}, sum(parts, {.axes = {1}, .keep_dims = true}) * softmax(h)};
  }
};

struct Inputs {
  Inputs(int64_t time, int64_t batch, Dtype dtype)
      : xs(numbers({time, batch, 4 * units}, 0.7, dtype)),
        h(numbers({batch, units}, 0.3, dtype)),
        u(numbers({units, 4 * units}, 1.1, dtype) * 0.5),
        scale(numbers({units}, 0.9, dtype)),
        rows(numbers({batch, units}, 0.4, dtype)) {}
  Tensor xs, h, u, scale, rows;
};

std::vector<Tensor> values_and_gradients(const Tensor& xs, const Tensor& h, const Tensor& u, const Tensor& scale, const Tensor& rows) {
  GradientTape tape;
  const std::vector<Tensor> sources = {xs, h, u, scale, rows};
  for (const Tensor& each : sources) tape.watch(each);
  const auto [last, all] = scan(Cell{u, scale, rows}, std::vector<Tensor>{h, h * 0.5}, xs);
  std::vector<Tensor> results = tape.gradient(sum(sin(all)) + sum(last[0] * last[1]), sources, {.unreached = Unreached::Zeros});
  results.insert(results.end(), {last[0], last[1], all});
  return results;
}

TEST(ScanRows, any_number_of_rows_gives_what_the_loop_gives_eagerly) {
  auto traced =
      function([](Tensor xs, Tensor h, Tensor u, Tensor scale, Tensor rows) { return values_and_gradients(xs, h, u, scale, rows); });
  for (const int64_t batch : {40, 1, 0, 16, 17, 33, 300}) {
    for (const int64_t time : {3, 0, 1}) {
      const Inputs in(time, batch, f64);
      const std::vector<Tensor> got = traced(in.xs, in.h, in.u, in.scale, in.rows),
                                expected = values_and_gradients(in.xs, in.h, in.u, in.scale, in.rows);
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_TRUE(all_close(got[i], expected[i], {.relative = 1e-10, .absolute = 1e-11})) << i << ": " << batch << " rows, " << time;
    }
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(ScanRows, bits_do_not_depend_on_threads) {
  auto traced =
      function([](Tensor xs, Tensor h, Tensor u, Tensor scale, Tensor rows) { return values_and_gradients(xs, h, u, scale, rows); });
  const Inputs in(7, 70, f32);
  std::vector<Tensor> first;
  for (const int threads : {1, 2, 3, 8}) {
    const runtime::ScopedPool pool(threads);
    const std::vector<Tensor> got = traced(in.xs, in.h, in.u, in.scale, in.rows);
    if (first.empty()) first = got;
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(all_equal(got[i], first[i])) << i << " on " << threads;
  }
}

// Lengths 37, 36, ..., with empty rows at the end: blocks end at different steps, and some never begin.
TEST(ScanRows, packed_rows_in_blocks_are_a_loop_over_dense_batches) {
  std::vector<int64_t> lengths(50);
  for (size_t i = 0; i < lengths.size(); ++i) lengths[i] = std::max<int64_t>(0, 37 - static_cast<int64_t>(i));
  std::vector<int64_t> counts(37);
  for (size_t t = 0; t < counts.size(); ++t)
    counts[t] = std::ranges::count_if(lengths, [&](int64_t length) { return length > static_cast<int64_t>(t); });
  const int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  const auto run = [](const Tensor& by, const Tensor& h, const Tensor& xs, const Tensor& u, const Tensor& scale) {
    GradientTape tape;
    const std::vector<Tensor> sources = {h, xs, u, scale};
    for (const Tensor& each : sources) tape.watch(each);
    const std::vector<Tensor> results =
        scan_packed(by, {h, h * 0.5}, {xs}, [&](std::span<const Tensor> carried, std::span<const Tensor> slices) -> FunctionResults {
          auto [next, out] = Cell{u, scale, {}}({carried.begin(), carried.end()}, slices[0]);
          return {{next[0], next[1], out}};
        }).tensors;
    std::vector<Tensor> all = tape.gradient(sum(results[0] * results[1]) + sum(sin(results[2])), sources);
    all.insert(all.end(), results.begin(), results.end());
    return all;
  };
  auto traced = function([&](Tensor by, Tensor h, Tensor xs, Tensor u, Tensor scale) { return run(by, h, xs, u, scale); });
  const Tensor by = tensor(counts, Shape{37}), h = numbers({50, units}, 0.3), xs = numbers({total, 4 * units}, 0.7);
  const Inputs in(1, 1, f64);
  const std::vector<Tensor> expected = run(by, h, xs, in.u, in.scale);
  for (const int threads : {1, 2, 8}) {
    const runtime::ScopedPool pool(threads);
    const std::vector<Tensor> got = traced(by, h, xs, in.u, in.scale);
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(all_close(got[i], expected[i], {.relative = 1e-10, .absolute = 1e-11})) << i << " on " << threads;
  }
}

// What mixes rows is left in one piece.
TEST(ScanRows, bodies_whose_rows_meet_are_right_too) {
  const auto run = [](const Tensor& xs, const Tensor& h) {
    return scan(
        [](const Tensor& carry, const Tensor& x) {
          const Tensor next = (carry + x) / cast(size(carry, 0), f64) - mean(carry, {.axes = {0}, .keep_dims = true});
          return std::pair(next, flip(next, {0}));
        },
        h, xs);
  };
  auto traced = function([&](Tensor xs, Tensor h) { return run(xs, h); });
  const Tensor xs = numbers({4, 40, 3}, 0.7), h = numbers({40, 3}, 0.2);
  const auto [last, all] = traced(xs, h);
  const auto [expected_last, expected_all] = run(xs, h);
  EXPECT_TRUE(all_close(last, expected_last, {.relative = 1e-12}));
  EXPECT_TRUE(all_close(all, expected_all, {.relative = 1e-12}));
}

// Sizes that a body requires to be equal are those of all rows, not of a block.
TEST(ScanRows, rules_on_the_number_of_rows_hold_for_all_of_them) {
  const Dim n = dim("n"), m = dim("m"), t = dim("t");
  auto f = function(
      [](Tensor h0, Tensor xs, Tensor b) {
        return scan(
                   [&](Tensor h, Tensor x) {
                     const Tensor next = h + x + reshape(b, h.shape());
                     return std::pair(next, next);
                   },
                   h0, xs)
            .first;
      },
      {.name = "rules", .signature = {spec(f32, {n, 4}, "h0"), spec(f32, {t, n, 4}, "xs"), spec(f32, {m, 4}, "b")}});
  for (const int64_t rows : {5, 16, 17, 40}) {
    const Tensor b = reshape(arange(rows * 4, {.dtype = f32}), {rows, 4});
    EXPECT_TRUE(all_close(f(ones({rows, 4}), ones({3, rows, 4}), b), b * 3 + 4)) << rows;
  }
  EXPECT_THROW(f(ones({32, 4}), ones({3, 32, 4}), ones({16, 4})), ShapeError);
}

TEST(ScanRows, the_number_of_rows_may_say_where_elements_begin) {
  const auto run = [](const Tensor& h0, const Tensor& xs) {
    const Dim n = h0.shape()[0];
    return scan(
               [&](Tensor h, Tensor x) {
                 const Tensor next = h + slice(x, {{}, {.begin = n, .end = n + 4}});
                 return std::pair(next, next);
               },
               h0, xs)
        .first;
  };
  auto traced = function([&](Tensor h0, Tensor xs) { return run(h0, xs); });
  for (const int64_t rows : {5, 16, 40}) {
    const Tensor xs = broadcast_to(arange(64, {.dtype = f32}), {3, rows, 64}), h0 = zeros({rows, 4});
    EXPECT_TRUE(all_equal(traced(h0, xs), run(h0, xs))) << rows;
  }
}

}  // namespace
}  // namespace anyshape::test
