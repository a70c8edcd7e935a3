// Shapes::Relax and Shapes::Exact: sizes as numbers, and what the ledger says of it.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

auto total_with(FunctionOptions options) {
  return function([](Tensor x) { return sum(x); }, std::move(options));
}

TEST(Shapes, relax_begins_exact_and_generalises_what_changed) {
  auto total = total_with({.name = "total", .shapes = Shapes::Relax});
  EXPECT_EQ(total(ones({2, 3})).item<float>(), 6);
  EXPECT_EQ(total(ones({2, 3})).item<float>(), 6);
  EXPECT_EQ(total.stats().traces, 1);
  EXPECT_EQ(total.traces()[0].signature, "(f32[2, 3])");
  for (const int64_t rows : {4, 0, 1, 77}) EXPECT_EQ(total(ones({rows, 3})).item<float>(), 3.0f * static_cast<float>(rows));
  ASSERT_EQ(total.stats().traces, 2);
  EXPECT_EQ(total.traces()[1].signature, "(f32[a0, 3])");
  EXPECT_EQ(total.traces()[1].cause, Cause::Size);
  EXPECT_EQ(total.traces()[1].reason, "argument 0: f32[2, 3] became f32[4, 3] (nearest: trace 0)");
  EXPECT_EQ(total.traces()[1].advice, "Shapes::Relax begins with numbers: Shapes::Symbolic begins with symbols.");
  for (const int64_t cols : {9, 0, 1, 50}) EXPECT_EQ(total(ones({5, cols})).item<float>(), 5.0f * static_cast<float>(cols));
  ASSERT_EQ(total.stats().traces, 3);
  EXPECT_EQ(total.traces()[2].signature, "(f32[a0, a1])");
  EXPECT_EQ(total.traces()[2].reason, "argument 0: f32[a0, 3] became f32[5, 9] (nearest: trace 1)");
  total(ones({2, 3}));
  EXPECT_EQ(total.traces()[0].calls, 3) << "the exact trace still serves its size";
}

TEST(Shapes, relax_keeps_declared_names) {
  const Dim n = dim("n", {.max = 100});
  auto both = function([](Tensor a, Tensor b) { return sum(a) + sum(b); },
                       {.name = "both", .signature = {spec(f32, {n}, "a"), spec(f32, {n * 2}, "b")}, .shapes = Shapes::Relax});
  EXPECT_EQ(both(ones({3}), ones({6})).item<float>(), 9);
  EXPECT_EQ(both.traces()[0].signature, "(a: f32[3], b: f32[6])");
  EXPECT_EQ(both(ones({4}), ones({8})).item<float>(), 12);
  EXPECT_EQ(both(ones({0}), ones({0})).item<float>(), 0);
  EXPECT_EQ(both.stats().traces, 2);
  EXPECT_EQ(both.traces()[1].signature, "(a: f32[n], b: f32[2 * n])");
  EXPECT_THROW(both(ones({4}), ones({9})), SignatureError);
  EXPECT_THROW(both(ones({101}), ones({202})), SignatureError);
}

TEST(Shapes, exact_makes_one_trace_per_shape_and_says_so) {
  auto total = total_with({.name = "total", .shapes = Shapes::Exact});
  for (int round = 0; round < 2; ++round) {
    for (const int64_t n : {0, 1, 2, 7}) EXPECT_EQ(total(ones({n})).item<float>(), static_cast<float>(n));
  }
  EXPECT_EQ(total.stats().traces, 4);
  EXPECT_EQ(total.stats().hits, 4);
  EXPECT_EQ(total.traces()[3].signature, "(f32[7])");
  EXPECT_EQ(total.traces()[3].reason, "argument 0: f32[0] became f32[7] (nearest: trace 0)");
  EXPECT_EQ(total.traces()[3].advice, "Shapes::Exact makes a trace per shape: Shapes::Symbolic runs every shape in one.");
}

TEST(Shapes, exact_sizes_that_break_a_rule_are_errors_and_no_traces) {
  auto sum_of = function([](Tensor a, Tensor b) { return a + b; }, {.name = "sum_of", .shapes = Shapes::Exact});
  sum_of(ones({2}), ones({2}));
  EXPECT_THROW(sum_of(ones({2}), ones({3})), ShapeError);
  EXPECT_EQ(sum_of.stats().traces, 1);
}

TEST(Shapes, forbidding_new_traces_forbids_another_shape_where_sizes_are_numbers) {
  auto total = total_with({.name = "total", .shapes = Shapes::Exact, .retrace = Retrace::Forbid});
  total(ones({2}));
  EXPECT_THROW(total(ones({3})), TraceError);
  EXPECT_TRUE(total.would_retrace(ones({3})));
  EXPECT_FALSE(total.would_retrace(ones({2})));
}

}  // namespace
}  // namespace anyshape::test
