// The loops a group becomes: joined axes, versions for sizes that may be 1, the structure of reductions.
#include "lower/lowered.h"

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

using Loops = std::map<std::string, int>;

TEST(LowerLoops, axes_that_everything_walks_together_are_one_loop) {
  EXPECT_EQ(loops_of(R"(graph f(%0 x: f32[a, b, c], %1 y: f32[a, b, c]) {
  %2 = add(%0, %1) : f32[a, b, c]
  return %2
}
)"),
            (Loops{{"parallel", 1}, {"vector", 1}}))
      << "one loop over all elements, cut into tasks";
}

TEST(LowerLoops, a_bias_is_added_row_by_row) {
  const std::string text = R"(graph f(%0 x: f32[a, b, c], %1 bias: f32[c]) {
  %2 = add(%0, %1) : f32[a, b, c]
  return %2
}
)";
  EXPECT_EQ(loops_of(text), (Loops{{"parallel", 1}, {"vector", 1}}));
  const std::string kernel = loop::print(*lowered(text).launches[0].kernel);
  EXPECT_NE(kernel.find("grain"), std::string::npos) << kernel;
  EXPECT_EQ(kernel.find("ceil"), std::string::npos) << "rows are the tasks:\n" << kernel;
}

TEST(LowerLoops, a_column_between_axes_keeps_three_loops) {
  EXPECT_EQ(loops_of(R"(graph f(%0 x: f32[a, b, c], %1 y: f32[a, 1, c]) {
  %2 = add(%0, %1) : f32[a, b, c]
  return %2
}
)"),
            (Loops{{"parallel", 1}, {"for", 1}, {"vector", 1}}));
}

TEST(LowerLoops, a_scalar_does_not_keep_axes_apart) {
  EXPECT_EQ(loops_of(R"(graph f(%0 x: f32[a, b, c], %1 y: f32[]) {
  %2 = add(%0, %1) : f32[a, b, c]
  return %2
}
)"),
            (Loops{{"parallel", 1}, {"vector", 1}}));
}

TEST(LowerLoops, a_result_of_rank_0_has_no_loop) {
  EXPECT_EQ(loops_of("graph f(%0 x: f32[]) {\n  %1 = exp(%0) : f32[]\n  return %1\n}\n"), Loops{});
}

TEST(LowerLoops, an_inner_size_that_may_be_1_has_two_versions) {
  EXPECT_EQ(loops_of(R"(graph f(%0 x: f32[n], %1 y: f32[m]) {
  check add: n broadcasts with m
  check add: m == bcast(n, m)
  %2 = add(%0, %1) : f32[m]
  return %2
}
)")["vector"],
            2)
      << "x may be 1, y is the result's size";
}

TEST(LowerLoops, two_inner_sizes_that_may_be_1_have_four_versions) {
  const Loops found = loops_of(R"(graph f(%0 x: f32[n], %1 y: f32[m]) {
  check add: n broadcasts with m
  %2 = add(%0, %1) : f32[bcast(n, m)]
  return %2
}
)");
  EXPECT_EQ(found, (Loops{{"if", 3}, {"parallel", 4}, {"vector", 4}})) << "both whole, the one or the other repeated, both of them";
}

TEST(LowerLoops, three_inner_sizes_that_may_be_1_have_a_general_version) {
  const Loops found = loops_of(R"(graph f(%0 c: b8[n], %1 x: f32[m], %2 y: f32[k]) {
  check where: n broadcasts with m
  check where: bcast(n, m) broadcasts with k
  %3 = where(%0, %1, %2) : f32[bcast(n, m, k)]
  return %3
}
)");
  EXPECT_EQ(found, (Loops{{"if", 1}, {"parallel", 2}, {"vector", 2}})) << "all whole, or by run-time strides";
}

TEST(LowerLoops, what_is_repeated_along_an_open_axis_is_not_computed_again) {
  EXPECT_EQ(lower::count_runs(lowered(R"(graph f(%0 x: f32[n], %1 y: f32[m]) {
  check add: n broadcasts with m
  %2 = exp(%0) : f32[n]
  %3 = add(%2, %1) : f32[bcast(n, m)]
  return %3
}
)")),
            2U);
}

TEST(LowerLoops, an_outer_size_that_may_be_1_needs_no_version) {
  const Loops found = loops_of(R"(graph f(%0 x: f32[n, c], %1 y: f32[m, c]) {
  check add: n broadcasts with m
  %2 = add(%0, %1) : f32[bcast(n, m), c]
  return %2
}
)");
  EXPECT_EQ(found, (Loops{{"parallel", 1}, {"vector", 1}}));
}

TEST(LowerReduction, rows_are_one_reduction_each) {
  EXPECT_EQ(loops_of("graph f(%0 x: f32[a, b, c]) {\n  %1 = sum(%0) {axes=[1, 2]} : f32[a]\n  return %1\n}\n"),
            (Loops{{"parallel", 1}, {"for", 1}, {"reduce", 1}}))
      << "reduced axes that stand side by side are one, walked in parts";
}

TEST(LowerReduction, columns_are_vector_lanes_that_sum_in_order_in_parts_of_the_rows) {
  EXPECT_EQ(loops_of("graph f(%0 x: f32[a, b]) {\n  %1 = sum(%0) {axes=[0]} : f32[b]\n  return %1\n}\n"),
            (Loops{{"parallel", 2}, {"vector", 3}, {"for", 3}}))
      << "the parts, a few rows at a time, then their results";
}

TEST(LowerReduction, everything_is_parts_and_then_one) {
  const Lowered program = lowered("graph f(%0 x: f32[a, b]) {\n  %1 = sum(%0) {axes=[0, 1]} : f32[]\n  return %1\n}\n");
  ASSERT_EQ(lower::count_runs(program), 1U);
  EXPECT_EQ(loops(program.launches[0].kernel->body), (Loops{{"parallel", 1}, {"reduce", 2}}));
  EXPECT_EQ(program.blocks[0].slots.size(), 1U) << "the parts";
}

TEST(LowerReduction, an_axis_between_kept_ones_is_a_loop_inside_the_lanes) {
  EXPECT_EQ(loops_of("graph f(%0 x: f32[a, b, c]) {\n  %1 = max(%0) {axes=[1]} : f32[a, c]\n  return %1\n}\n"),
            (Loops{{"parallel", 1}, {"vector", 1}, {"for", 1}}));
}

TEST(LowerReduction, sum_to_an_open_inner_size_has_a_version_for_each_fate) {
  const Loops found = loops_of(R"(graph f(%0 x: f32[n, m], %1 like: f32[k]) {
  check sum_to: k broadcasts with m
  check sum_to: bcast(m, k) == m
  %2 = sum_to(%0) {shape=[k]} : f32[k]
  return %2
}
)");
  EXPECT_EQ(found.at("if"), 1);
  EXPECT_EQ(found.at("vector"), 3) << "kept: columns, in parts of the rows";
  EXPECT_GE(found.at("reduce"), 1) << "summed";
}

}  // namespace
}  // namespace anyshape::test
