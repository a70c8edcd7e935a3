// Packed scans: rows of unequal length without padded steps, against a loop over the rows and finite differences.
#include "function/numbers.h"
#include "ops/control/scan.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace anyshape::test {
namespace {

// Rows of these lengths, longest first: how many have a step t.
std::vector<int64_t> counts_of(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> counts(lengths.empty() ? 0 : static_cast<size_t>(lengths[0]));
  for (size_t t = 0; t < counts.size(); ++t)
    counts[t] = std::ranges::count_if(lengths, [&](int64_t length) { return length > static_cast<int64_t>(t); });
  return counts;
}

int64_t sum_of(const std::vector<int64_t>& values) { return std::accumulate(values.begin(), values.end(), int64_t{0}); }

const std::vector<std::vector<int64_t>> all_lengths = {{5, 3, 3, 1},       {4, 4}, {3}, {7, 0}, {0, 0, 0}, {}, {1, 1, 1},
                                                       {9, 6, 2, 2, 1, 0}, {2, 1}};

// h [rows, 3], xs [total, 2]. The two carried values are of different ranks; the outputs have other shapes than the carry.
struct Cell {
  Tensor w = tensor({{0.3, -0.2, 0.5}, {0.1, 0.4, -0.6}});
  Tensor u = tensor({{0.2, 0.1, -0.3}, {0.6, -0.1, 0.2}, {0.05, 0.4, -0.5}});

  std::vector<Tensor> step(const Tensor& h, const Tensor& c, const Tensor& x) const {
    const Tensor next = tanh(matmul(x, w) + matmul(h, u)) * reshape(cos(c), {-1, 1});
    return {next, c * 0.5 + sum(next * h, {.axes = {1}}), next * 2.0, sum(x, {.axes = {1}}) * c};
  }
  std::vector<Tensor> packed(const Tensor& counts, const Tensor& h, const Tensor& c, const Tensor& xs) const {
    return scan_packed(counts, {h, c}, {xs},
                       [&](std::span<const Tensor> carried, std::span<const Tensor> slices) -> FunctionResults {
                         return {step(carried[0], carried[1], slices[0])};
                       })
        .tensors;
  }
  // Every row by itself.
  std::vector<Tensor> row_by_row(const std::vector<int64_t>& lengths, const Tensor& h, const Tensor& c, const Tensor& xs) const {
    const std::vector<int64_t> counts = counts_of(lengths);
    const auto row = [](const Tensor& x, int64_t i) { return slice(x, {{.begin = i, .end = i + 1}}); };
    std::vector<Tensor> last_h, last_c;
    std::vector<Tensor> ys(static_cast<size_t>(sum_of(lengths))), zs = ys;
    for (int64_t r = 0; r < static_cast<int64_t>(lengths.size()); ++r) {
      Tensor own_h = row(h, r), own_c = row(c, r);
      for (int64_t t = 0, first = 0; t < lengths[static_cast<size_t>(r)]; first += counts[static_cast<size_t>(t)], ++t) {
        const std::vector<Tensor> now = step(own_h, own_c, row(xs, first + r));
        own_h = now[0], own_c = now[1];
        ys[static_cast<size_t>(first + r)] = now[2], zs[static_cast<size_t>(first + r)] = now[3];
      }
      last_h.push_back(own_h), last_c.push_back(own_c);
    }
    const auto joined = [](const std::vector<Tensor>& parts, const Tensor& none) { return parts.empty() ? none : concat(parts); };
    return {joined(last_h, h), joined(last_c, c), joined(ys, cast(zeros({0, 3}), f64)), joined(zs, cast(zeros({0}), f64))};
  }
};

struct Batch {
  explicit Batch(const std::vector<int64_t>& lengths) {
    const auto rows = static_cast<int64_t>(lengths.size());
    const std::vector<int64_t> each = counts_of(lengths);
    counts = tensor(each, Shape{static_cast<int64_t>(each.size())});
    h = numbers({rows, 3}, 0.7), c = numbers({rows}, 1.3), xs = numbers({sum_of(lengths), 2}, 0.9);
  }
  Tensor counts, h, c, xs;
};

TEST(PackedScan, is_a_loop_over_the_rows_in_one_trace) {
  const Cell cell;
  auto traced = function([&](Tensor counts, Tensor h, Tensor c, Tensor xs) { return cell.packed(counts, h, c, xs); });
  for (const std::vector<int64_t>& lengths : all_lengths) {
    const Batch batch(lengths);
    const std::vector<Tensor> expected = cell.row_by_row(lengths, batch.h, batch.c, batch.xs);
    const std::vector<Tensor> eager = cell.packed(batch.counts, batch.h, batch.c, batch.xs);
    const std::vector<Tensor> got = traced(batch.counts, batch.h, batch.c, batch.xs);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(all_close(eager[i], expected[i], {.relative = 1e-12, .absolute = 1e-14})) << i << " of " << lengths.size() << " rows";
      EXPECT_TRUE(all_close(got[i], expected[i], {.relative = 1e-12, .absolute = 1e-14})) << i << " of " << lengths.size() << " rows";
    }
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

// A loss that everything flows into.
Tensor loss_of(const std::vector<Tensor>& results) {
  return sum(results[0] * results[0]) + sum(sin(results[1])) + sum(cos(results[2])) + sum(results[3] * results[3] * 0.5);
}

std::vector<Tensor> gradients(const Cell& cell, const Tensor& counts, const Tensor& h, const Tensor& c, const Tensor& xs) {
  GradientTape tape;
  const std::vector<Tensor> sources = {h, c, xs, cell.w, cell.u};
  for (const Tensor& each : sources) tape.watch(each);
  return tape.gradient(loss_of(cell.packed(counts, h, c, xs)), sources, {.unreached = Unreached::Zeros});
}

TEST(PackedScan, has_the_gradients_of_a_loop_over_the_rows) {
  auto traced =
      function([&](Tensor counts, Tensor h, Tensor c, Tensor xs, Tensor w, Tensor u) { return gradients({w, u}, counts, h, c, xs); });
  const Cell cell;
  for (const std::vector<int64_t>& lengths : all_lengths) {
    const Batch batch(lengths);
    GradientTape tape;
    const std::vector<Tensor> sources = {batch.h, batch.c, batch.xs, cell.w, cell.u};
    for (const Tensor& each : sources) tape.watch(each);
    const Tensor loss = loss_of(cell.row_by_row(lengths, batch.h, batch.c, batch.xs));
    const std::vector<Tensor> expected = tape.gradient(loss, sources, {.unreached = Unreached::Zeros});
    const std::vector<Tensor> eager = gradients(cell, batch.counts, batch.h, batch.c, batch.xs);
    const std::vector<Tensor> got = traced(batch.counts, batch.h, batch.c, batch.xs, cell.w, cell.u);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(all_close(eager[i], expected[i], {.relative = 1e-10, .absolute = 1e-12})) << i << " of " << lengths.size() << " rows";
      EXPECT_TRUE(all_close(got[i], expected[i], {.relative = 1e-10, .absolute = 1e-12})) << i << " of " << lengths.size() << " rows";
    }
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(PackedScan, has_gradients_that_finite_differences_confirm) {
  const Cell cell;
  const Batch batch({4, 2, 2, 1});
  auto value = function([&](Tensor counts, Tensor h, Tensor c, Tensor xs) { return loss_of(cell.packed(counts, h, c, xs)); });
  auto traced = function([&](Tensor counts, Tensor h, Tensor c, Tensor xs) { return gradients(cell, counts, h, c, xs); });
  const std::vector<Tensor> got = traced(batch.counts, batch.h, batch.c, batch.xs);
  const std::vector<Tensor> sources = {batch.h, batch.c, batch.xs};
  for (size_t k = 0; k < sources.size(); ++k) {
    const std::vector<double> slopes = got[k].to_vector<double>();
    for (size_t i = 0; i < slopes.size(); ++i) {
      const auto moved = [&](double by) {
        std::vector<Tensor> at = sources;
        std::vector<double> values = at[k].to_vector<double>();
        values[i] += by;
        at[k] = tensor(values, sources[k].shape());
        return value(batch.counts, at[0], at[1], at[2]).item<double>();
      };
      EXPECT_NEAR(slopes[i], (moved(1e-5) - moved(-1e-5)) / 2e-5, 1e-7) << k << " at " << i;
    }
  }
}

TEST(PackedScan, has_second_derivatives) {
  const Batch batch({3, 2, 2});
  const auto second = [&](const Tensor& counts, const Tensor& h, const Tensor& c, const Tensor& xs) {
    GradientTape outer;
    outer.watch(h);
    const Tensor first = gradients(Cell(), counts, h, c, xs)[0];
    return outer.gradient(sum(first * first), h);
  };
  auto traced = function([&](Tensor counts, Tensor h, Tensor c, Tensor xs) { return second(counts, h, c, xs); });
  const Tensor expected = second(batch.counts, batch.h, batch.c, batch.xs);
  EXPECT_TRUE(all_close(traced(batch.counts, batch.h, batch.c, batch.xs), expected, {.relative = 1e-10}));
}

TEST(PackedScan, takes_numbers_of_rows_that_are_found_in_the_data) {
  const Cell cell;
  auto traced = function(
      [&](Tensor candidates, Tensor h, Tensor c, Tensor xs) { return cell.packed(boolean_mask(candidates, candidates > 0), h, c, xs); });
  const std::vector<int64_t> lengths = {4, 2, 1};
  const Batch batch(lengths);
  const std::vector<Tensor> expected = cell.row_by_row(lengths, batch.h, batch.c, batch.xs);
  const std::vector<Tensor> got = traced(concat({batch.counts, cast(zeros({3}), i64)}), batch.h, batch.c, batch.xs);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(all_close(got[i], expected[i], {.relative = 1e-12})) << i;
}

TEST(PackedScan, reads_what_it_captures_by_row) {
  const auto run = [](const Tensor& counts, const Tensor& h, const Tensor& xs, const Tensor& factors) {
    return scan_packed(counts, {h}, {xs},
                       [&](std::span<const Tensor> carried, std::span<const Tensor> slices) -> FunctionResults {
                         const Tensor own = slice(factors, {{.end = carried[0].shape()[0]}});
                         const Tensor next = carried[0] * own + slices[0];
                         return {{next, next}};
                       })
        .tensors;
  };
  auto traced = function([&](Tensor counts, Tensor h, Tensor xs, Tensor factors) { return run(counts, h, xs, factors); });
  const Tensor counts = tensor({3, 2, 2}), h = numbers({3, 2}, 0.7), xs = numbers({7, 2}, 0.4), factors = numbers({3, 2}, 0.2);
  const std::vector<Tensor> got = traced(counts, h, xs, factors), expected = run(counts, h, xs, factors);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(all_close(got[i], expected[i], {.relative = 1e-14})) << i;
}

TEST(PackedScan, refuses_numbers_of_rows_that_are_none) {
  const Cell cell;
  auto traced = function([&](Tensor counts, Tensor h, Tensor c, Tensor xs) { return cell.packed(counts, h, c, xs)[0]; });
  const Tensor h = numbers({3, 3}, 0.7), c = numbers({3}, 1.3), xs = numbers({6, 2}, 0.9);
  const auto text = [&](const Tensor& counts) {
    const std::string eager = text_of<DataError>([&] { cell.packed(counts, h, c, xs); });
    EXPECT_EQ(text_of<DataError>([&] { traced(counts, h, c, xs); }), eager);
    return eager;
  };
  EXPECT_EQ(text(tensor({4, 2})), "scan: step 0 has 4 active rows; expected 0 to 3: rows in the order of decreasing length.");
  EXPECT_EQ(text(tensor({2, 3, 1})), "scan: step 1 has 3 active rows; expected 0 to 2: rows in the order of decreasing length.");
  EXPECT_EQ(text(tensor({3, -1})), "scan: step 1 has -1 active rows; expected 0 to 3: rows in the order of decreasing length.");
  EXPECT_EQ(text(tensor({3, 2})), "scan: the steps have 5 active rows together; expected 6.");
}

TEST(PackedScan, refuses_bodies_and_arguments_that_do_not_fit) {
  const Tensor counts = tensor({2, 1}), h = numbers({2, 3}, 0.7), xs = numbers({3, 3}, 0.9);
  const auto run = [](const Tensor& by, const Tensor& carry, const Tensor& sequence, const ScanBody& body) {
    return scan_packed(by, {carry}, {sequence}, body).tensors;
  };
  const ScanBody sums = [](std::span<const Tensor> carried, std::span<const Tensor> slices) -> FunctionResults {
    return {{carried[0], sum(slices[0])}};
  };
  const ScanBody fine = [](std::span<const Tensor> carried, std::span<const Tensor> slices) -> FunctionResults {
    return {{carried[0] + slices[0]}};
  };
  auto traced = function([&](Tensor by, Tensor carry, Tensor sequence) { return run(by, carry, sequence, sums); });
  EXPECT_EQ(text_of<ShapeError>([&] { traced(counts, h, xs); }),
            "scan: value 1 of a packed step is f64[]; expected the active rows (active) as its first axis.");
  EXPECT_EQ(text_of<ShapeError>([&] { run(counts, h, xs, sums); }),
            "scan: value 1 of a packed step is f64[]; expected the active rows (2) as its first axis.");
  EXPECT_EQ(text_of<ShapeError>([&] { run(cast(counts, f32), h, xs, fine); }),
            "scan: the numbers of rows are f32[2]; expected integers [steps].");
  EXPECT_EQ(text_of<ShapeError>([&] { run(counts, sum(h), xs, fine); }), "scan: carry 0 is f64[]; expected an axis of rows.");
  EXPECT_EQ(text_of<ArgumentError>([&] { scan_packed(counts, {}, {xs}, fine); }),
            "scan: a packed scan has no carry or no sequence; expected at least one of both.");
}

}  // namespace
}  // namespace anyshape::test
