// peak_bytes(): what a call takes is known before it runs, by the names of its sizes.
#include "base/switches.h"
#include "function/bytes_taken.h"
#include "function/small_network.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

TEST(PeakBytes, equals_what_the_allocator_gives) {
  const Dim rows = dim("rows"), columns = dim("columns");
  auto scores = function(
      [](Tensor x, Tensor w) {
        const Tensor hidden = tanh(matmul(x, w));
        return std::tuple(softmax(matmul(hidden, w)), sum(hidden, {.axes = {0}}));
      },
      {.name = "scores", .signature = {spec(f32, {rows, columns}), spec(f32, {columns, columns})}});
  scores(ones({2, 3}), ones({3, 3}));
  for (const auto& [n, m] : std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {17, 33}, {300, 64}, {1000, 257}, {0, 5}}) {
    const Tensor x = ones({n, m}), w = ones({m, m});
    EXPECT_EQ(bytes_taken([&] { return scores(x, w); }), scores.peak_bytes({{"rows", n}, {"columns", m}})) << n << " x " << m;
  }
}

TEST(PeakBytes, counts_loops_and_branches) {
  const Dim batch = dim("batch"), time = dim("time");
  auto run = function(
      [](Tensor x) {
        const Tensor start = zeros({x.shape()[1], 8});
        const auto [last, all] = scan(
            [](Tensor state, Tensor step) {
              const Tensor next = tanh(matmul(state, full({8, 8}, 0.1f)) + step);
              return std::pair(next, next * 2.0f);
            },
            start, x);
        return sum(last) + sum(all);
      },
      {.name = "run", .signature = {spec(f32, {time, batch, 8})}});
  run(ones({3, 2, 8}));
  for (const auto& [steps, rows] : std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {5, 16}, {9, 100}}) {
    const Tensor x = ones({steps, rows, 8});
    EXPECT_EQ(bytes_taken([&] { return run(x); }), run.peak_bytes({{"time", steps}, {"batch", rows}})) << steps << ", " << rows;
  }
}

TEST(PeakBytes, is_an_upper_bound_where_the_data_decides) {
  auto kept =
      function([](Tensor x) { return exp(boolean_mask(x, x > 0.0f)) * 2.0f; }, {.name = "kept", .signature = {spec(f32, {dim("n")})}});
  kept(ones({4}));
  const Tensor none = full({5000}, -1.0f), all = ones({5000});
  EXPECT_LT(bytes_taken([&] { return kept(none); }), kept.peak_bytes({{"n", 5000}}));
  EXPECT_EQ(bytes_taken([&] { return kept(all); }), kept.peak_bytes({{"n", 5000}}));
}

TEST(PeakBytes, variables_that_are_updated_in_place_count_nothing) {
  const SmallNetwork network;
  auto step = network.compiled_step();
  std::mt19937 host(2);
  const Tensor x = random_tensor(host, {100, SmallNetwork::inputs}, f32), labels = random_labels(host, 100, SmallNetwork::classes);
  step(x, labels);
  EXPECT_EQ(bytes_taken([&] { return step(x, labels); }), step.peak_bytes({{"a0", 100}, {"a1", SmallNetwork::inputs}, {"b0", 100}}));
}

TEST(PeakBytes, is_a_formula) {
  const ScopedWithout copies("pack_operands");
  auto squares =
      function([](Tensor x) { return matmul(exp(matmul(x, x)), x); }, {.name = "squares", .signature = {spec(f32, {dim("n"), dim("n")})}});
  squares(ones({2, 2}));
  EXPECT_EQ(squares.peak_formula(), "results 4 * n * n, arena 4 * n * n") << "exp is written over its argument";
}

TEST(PeakBytes, is_asked_of_a_function_that_has_a_trace) {
  const auto twice = function([](Tensor x) { return x + x; }, {.name = "twice"});
  EXPECT_EQ(text_of<ArgumentError>([&] { twice.peak_bytes({{"batch", 1}, {"time", 1}}); }),
            "function \"twice\": peak_bytes: it has no trace; expected at least one call before, which tells what it computes.");
}

TEST(TrimMemory, gives_back_what_is_kept_and_says_how_much) {
  {
    const Tensor x = ones({300'000}) + 1.0f;
  }
  const int64_t cached = memory_use().cached_bytes;
  EXPECT_GE(cached, 2 * 1'200'000);
  EXPECT_EQ(trim_memory(), cached);
  EXPECT_EQ(memory_use().cached_bytes, 0);
  EXPECT_EQ(trim_memory(), 0);
}

}  // namespace
}  // namespace anyshape::test
