// Cells of a user's own, wide enough for everything that makes loops fast: what they give is what they give step by step, with any of it switched
// off, for any number of threads, rows and steps, and their gradients are what finite differences say.
#include "base/switches.h"
#include "ops/control/scan.h"
#include "runtime/cpu/pool.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

namespace anyshape::test {
namespace {

constexpr int64_t units = 17, features = 3;  // no multiple of a vector

const std::vector<std::string> switches = {"transpose_weights", "save_functions", "sink_constants", "clean_gradients", "cut_up",
                                           "concat_in_place",   "keep_carries",   "epilogue"};

Tensor numbers(const Shape& shape, double step, Dtype dtype = f64) {
  return cast(sin(reshape(cast(arange(shape.count().value()), f64) * step + 0.3, shape)) * 0.5, dtype);
}

struct Weights {
  explicit Weights(Dtype dtype = f64)
      : kernel(numbers({features, 4 * units}, 0.7, dtype)),
        recurrent(numbers({units, 4 * units}, 1.1, dtype)),
        bias(numbers({4 * units}, 0.4, dtype)),
        peephole(numbers({3, units}, 0.9, dtype)) {}
  Weights(Tensor k, Tensor r, Tensor b, Tensor p)
      : kernel(std::move(k)), recurrent(std::move(r)), bias(std::move(b)), peephole(std::move(p)) {}
  Tensor kernel, recurrent, bias, peephole;
};

using Step = std::function<std::vector<Tensor>(const Weights&, const std::vector<Tensor>& states, const Tensor& x)>;

// States, then one step of the outputs.
std::vector<Tensor> peephole_step(const Weights& w, const std::vector<Tensor>& states, const Tensor& x) {
  const Tensor &h = states[0], &c = states[1];
  const std::vector<Tensor> gate = split(matmul(x, w.kernel) + w.bias + matmul(h, w.recurrent), 4, {.axis = -1});
  const std::vector<Tensor> peephole = split(w.peephole, 3);
  const Tensor next = sigmoid(gate[1] + peephole[1] * c) * c + sigmoid(gate[0] + peephole[0] * c) * tanh(gate[2]);
  const Tensor output = sigmoid(gate[3] + peephole[2] * next) * tanh(next);
  return {output, next, output * 2};
}

// Two products of the states, gates of different sizes, a gate that two joins hold, states that are swapped.
std::vector<Tensor> mixed_step(const Weights& w, const std::vector<Tensor>& states, const Tensor& x) {
  const Tensor &h = states[0], &c = states[1];
  const std::vector<Tensor> given = split(matmul(x, w.kernel), 4, {.axis = -1}),
                            own = split(matmul(h, w.recurrent), {units, 3 * units}, {.axis = -1});
  const Tensor reset = sigmoid(given[0] + own[0]);
  const Tensor wide = tanh(concat({given[1], reset * given[2]}, {.axis = -1}) + own[1]);
  const Tensor narrow = slice(wide, {{}, {.begin = units, .end = 2 * units}}) * exp(-square(own[2]));
  const Tensor next = reset * h + (1.0 - reset) * narrow;
  return {c, next, concat({reset, next}, {.axis = -1}) + 0.5 * wide};
}

// Each product reads a state of which what follows it reads the elements again.
std::vector<Tensor> residual_step(const Weights& w, const std::vector<Tensor>& states, const Tensor& x) {
  const Tensor &h = states[0], &c = states[1];
  const std::vector<Tensor> given = split(matmul(x, w.kernel) + w.bias, 4, {.axis = -1}), own = split(w.recurrent, 4, {.axis = -1});
  const Tensor next = h + tanh(matmul(h, own[0]) + given[0]);
  return {next, c * 0.5 + sin(matmul(c, own[1]) - given[1]), next * 2};
}

struct Loop {
  Step step;
  bool reverse = false;
  std::vector<int64_t> lengths = {};  // of packed rows, decreasing
};

std::vector<int64_t> counts_of(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> counts(lengths.empty() ? 0 : static_cast<size_t>(lengths[0]));
  for (const int64_t length : lengths) {
    for (int64_t step = 0; step < length; ++step) ++counts[static_cast<size_t>(step)];
  }
  return counts;
}

struct Inputs {
  Inputs(int64_t time, int64_t batch, Dtype dtype = f64)
      : counts(tensor({0})), xs(numbers({time, batch, features}, 0.8, dtype)), h(numbers({batch, units}, 0.3, dtype)) {}
  explicit Inputs(const std::vector<int64_t>& lengths, Dtype dtype = f64)
      : counts(tensor(counts_of(lengths), Shape{static_cast<int64_t>(counts_of(lengths).size())})),
        xs(numbers({std::accumulate(lengths.begin(), lengths.end(), int64_t{0}), features}, 0.8, dtype)),
        h(numbers({static_cast<int64_t>(lengths.size()), units}, 0.3, dtype)) {}
  Tensor counts, xs, h;
};

std::vector<Tensor> walk(const Loop& loop, const Tensor& counts, const Tensor& xs, const Tensor& h, const Weights& w) {
  const std::vector<Tensor> states = {h, h * 0.5};
  const bool is_packed = xs.rank() == 2;
  const auto body = [&](std::span<const Tensor> carried, std::span<const Tensor> slices) -> FunctionResults {
    return {loop.step(w, {carried.begin(), carried.end()}, slices[0])};
  };
  return (is_packed ? scan_packed(counts, states, {xs}, body) : detail::scan_tensors(body, states, {xs}, {.reverse = loop.reverse}))
      .tensors;
}

std::vector<Tensor> values_and_gradients(const Loop& loop, const Tensor& counts, const Tensor& xs, const Tensor& h, const Weights& w) {
  GradientTape tape;
  const std::vector<Tensor> sources = {xs, h, w.kernel, w.recurrent, w.bias, w.peephole};
  for (const Tensor& each : sources) tape.watch(each);
  std::vector<Tensor> results = walk(loop, counts, xs, h, w);
  const std::vector<Tensor> gradients =
      tape.gradient(sum(results[0] * results[1]) + sum(sin(results[2])), sources, {.unreached = Unreached::Zeros});
  results.insert(results.end(), gradients.begin(), gradients.end());
  return results;
}

// Weights of a layer have numbers for sizes; as arguments they have symbols, and nobody knows which sizes are equal.
auto traced(const Loop& loop, const Weights& w) {
  return function([=](Tensor counts, Tensor xs, Tensor h) { return values_and_gradients(loop, counts, xs, h, w); });
}
auto traced_in_symbols(const Loop& loop) {
  return function([=](Tensor counts, Tensor xs, Tensor h, Tensor k, Tensor r, Tensor b, Tensor p) {
    return values_and_gradients(loop, counts, xs, h, {k, r, b, p});
  });
}

void expect_close(const std::vector<Tensor>& got, const std::vector<Tensor>& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(all_close(got[i], expected[i], {.relative = 1e-9, .absolute = 1e-11})) << what << ", result " << i;
}

const std::vector<std::pair<std::string, Step>> cells = {{"peephole", peephole_step}, {"mixed", mixed_step}, {"residual", residual_step}};

TEST(ScanCells, give_what_they_give_eagerly_for_any_size_and_direction) {
  const Weights w;
  for (const auto& [name, step] : cells) {
    for (const bool reverse : {false, true}) {
      const Loop loop{step, reverse};
      auto function = traced(loop, w);
      auto in_symbols = traced_in_symbols(loop);
      for (const auto& [time, batch] : {std::pair{4, 33}, {0, 5}, {1, 1}, {3, 0}, {5, 2}}) {
        const Inputs in(time, batch);
        const std::vector<Tensor> expected = values_and_gradients(loop, in.counts, in.xs, in.h, w);
        expect_close(function(in.counts, in.xs, in.h), expected, name);
        expect_close(in_symbols(in.counts, in.xs, in.h, w.kernel, w.recurrent, w.bias, w.peephole), expected, name + " in symbols");
      }
      EXPECT_EQ(function.stats().traces, 1);
      EXPECT_EQ(in_symbols.stats().traces, 1);
    }
  }
}

TEST(ScanCells, give_what_they_give_eagerly_on_rows_of_any_length) {
  const Weights w;
  for (const auto& [name, step] : cells) {
    const Loop loop{step};
    auto function = traced(loop, w);
    for (const std::vector<int64_t>& lengths : {std::vector<int64_t>{6, 6, 5, 3, 3, 3, 1, 1, 1, 0},
                                                {1},
                                                {},
                                                {0, 0},
                                                {4, 4, 4},
                                                {9, 8, 8, 8, 8, 8, 8, 8, 7, 7, 7, 7, 2, 2, 2, 2, 2, 2, 1}}) {
      const Inputs in(lengths);
      expect_close(function(in.counts, in.xs, in.h), values_and_gradients(loop, in.counts, in.xs, in.h, w), name);
    }
    EXPECT_EQ(function.stats().traces, 1);
  }
}

TEST(ScanCells, give_the_same_with_anything_switched_off) {
  const Weights w;
  for (const auto& [name, step] : cells) {
    const Loop loop{step};
    const Inputs dense(3, 18), packed({5, 5, 4, 2, 2, 1});
    const auto both = [&] {
      auto on_dense = traced(loop, w), on_packed = traced(loop, w);
      std::vector<Tensor> results = on_dense(dense.counts, dense.xs, dense.h);
      const std::vector<Tensor> more = on_packed(packed.counts, packed.xs, packed.h);
      results.insert(results.end(), more.begin(), more.end());
      return results;
    };
    const std::vector<Tensor> expected = both();
    for (const std::string& each : switches) {
      const ScopedWithout without(each);
      expect_close(both(), expected, name + " without " + each);
    }
  }
}

TEST(ScanCells, have_the_same_bits_for_any_number_of_threads) {
  const Weights w(f32);
  for (const auto& [name, step] : cells) {
    auto function = traced({step}, w);
    const Inputs in(6, 50, f32);
    std::vector<Tensor> first;
    for (const int threads : {1, 2, 3, 8}) {
      const runtime::ScopedPool pool(threads);
      const std::vector<Tensor> got = function(in.counts, in.xs, in.h);
      if (first.empty()) first = got;
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_TRUE(all_equal(got[i], first[i])) << name << " on " << threads << " threads, result " << i;
    }
  }
}

TEST(ScanCells, have_gradients_that_finite_differences_confirm) {
  const Inputs in(3, 2);
  for (const auto& [name, step] : cells) {
    const Loop loop{step};
    const Weights w;
    auto function = traced(loop, w);
    const auto loss = [&](const Weights& moved) {
      const std::vector<Tensor> results = walk(loop, in.counts, in.xs, in.h, moved);
      return (sum(results[0] * results[1]) + sum(sin(results[2]))).item<double>();
    };
    const std::vector<Tensor> got = function(in.counts, in.xs, in.h);
    constexpr size_t results = 3, first_weight = results + 2;
    const auto nudged = [&](size_t which, const Tensor& by) {
      Weights moved;
      Tensor* const all[] = {&moved.kernel, &moved.recurrent, &moved.bias, &moved.peephole};
      *all[which] = *all[which] + by;
      return moved;
    };
    for (size_t which = 0; which < 4; ++which) {
      const Tensor& slope = got[first_weight + which];
      const Tensor direction = numbers(slope.shape(), 2.3);
      const double along = sum(slope * direction).item<double>();
      const double measured = (loss(nudged(which, direction * 1e-6)) - loss(nudged(which, direction * -1e-6))) / 2e-6;
      EXPECT_NEAR(along, measured, 1e-6 * (1 + std::abs(measured))) << name << ", weight " << which;
    }
  }
}

}  // namespace
}  // namespace anyshape::test
