// Kernels over rows: what becomes one kernel, and what its passes are.
#include "base/switches.h"
#include "lower/lowered.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace anyshape::test {
namespace {

using Loops = std::map<std::string, int>;

const std::string softmax_text = R"(graph f(%0 x: f32[n, 100]) {
  %1 = max(%0) {axes=[1], keep_dims=true} : f32[n, 1]
  %2 = subtract(%0, %1) : f32[n, 100]
  %3 = exp(%2) : f32[n, 100]
  %4 = sum(%3) {axes=[1], keep_dims=true} : f32[n, 1]
  %5 = divide(%3, %4) : f32[n, 100]
  return %5
}
)";

TEST(FuseRows, softmax_is_one_kernel_of_three_passes_without_scratch) {
  EXPECT_EQ(loops_of(softmax_text), (Loops{{"parallel", 1}, {"for", 1}, {"reduce", 2}, {"vector", 1}}));
  EXPECT_EQ(lowered(softmax_text).buffers.size(), 2U) << "x, and the result that holds the exponentials until they are divided";
  const ScopedWithout without("fuse_rows");
  EXPECT_EQ(lowered(softmax_text).launches.size(), 4U);
}

TEST(FuseRows, normalisation_computes_its_distances_again_instead_of_keeping_them) {
  const std::string text = R"(graph f(%0 x: f32[n, 100], %1 gamma: f32[100]) {
  %2 = sum(%0) {axes=[1], keep_dims=true} : f32[n, 1]
  %3 = subtract(%0, %2) : f32[n, 100]
  %4 = multiply(%3, %3) : f32[n, 100]
  %5 = sum(%4) {axes=[1], keep_dims=true} : f32[n, 1]
  %6 = rsqrt(%5) : f32[n, 1]
  %7 = multiply(%3, %6) : f32[n, 100]
  %8 = multiply(%7, %1) : f32[n, 100]
  return %8
}
)";
  EXPECT_EQ(loops_of(text), (Loops{{"parallel", 1}, {"for", 1}, {"reduce", 2}, {"vector", 1}}));
  EXPECT_EQ(lowered(text).buffers.size(), 3U);
}

TEST(FuseRows, short_rows_are_walked_several_at_once_and_the_rest_one_by_one) {
  const auto text_of = [](const std::string& length) {
    return fmt::format(R"(graph f(%0 x: f32[n, {0}]) {{
  %1 = max(%0) {{axes=[1], keep_dims=true}} : f32[n, 1]
  %2 = subtract(%0, %1) : f32[n, {0}]
  %3 = sum(%2) {{axes=[1], keep_dims=true}} : f32[n, 1]
  %4 = multiply(%2, %3) : f32[n, {0}]
  return %4
}}
)",
                       length);
  };
  const Loops by_itself = {{"parallel", 1}, {"for", 1}, {"reduce", 2}, {"vector", 1}};
  EXPECT_EQ(loops_of(text_of("65")), by_itself);
  EXPECT_EQ(loops_of(text_of("64")), (Loops{{"parallel", 1}, {"for", 2}, {"reduce", 4}, {"vector", 2}}));
  const int reduces = loops_of(text_of("m")).at("reduce");
  const auto why = [&](const std::string& length) { return first_decision(lowered(text_of(length)), "rows_together"); };
  EXPECT_EQ(why("m"), "yes: rows of at most 64 elements are walked 4 at once");
  EXPECT_EQ(why("65"), "no: rows of 65 elements keep a core busy by themselves");
  const ScopedWithout without("rows_together");
  EXPECT_EQ(why("64"), "no: switched off");
  EXPECT_EQ(loops_of(text_of("64")), by_itself);
  EXPECT_EQ(loops_of(text_of("m")).at("reduce"), reduces - 2);
}

TEST(FuseRows, wide_rows_are_walked_several_at_once_where_columns_are_summed_too) {
  const auto reduces_of = [](int length) {
    return loops_of(fmt::format(R"(graph f(%0 x: f32[n, {0}]) {{
  %1 = sum(%0) {{axes=[1], keep_dims=true}} : f32[n, 1]
  %2 = multiply(%0, %1) : f32[n, {0}]
  %3 = sum(%2) {{axes=[0]}} : f32[{0}]
  return %1, %3
}}
)",
                                length))
        .at("reduce");
  };
  EXPECT_EQ(reduces_of(64), 2);
  EXPECT_EQ(reduces_of(65), 1);
  EXPECT_EQ(reduces_of(895), 1);
  EXPECT_EQ(reduces_of(896), 2);
}

TEST(FuseRows, rows_that_share_a_scratch_are_walked_one_by_one) {
  EXPECT_EQ(loops_of(R"(graph f(%0 x: f32[n, 8]) {
  %1 = exp(%0) : f32[n, 8]
  %2 = sum(%1) {axes=[1], keep_dims=true} : f32[n, 1]
  %3 = subtract(%1, %2) : f32[n, 8]
  %4 = max(%3) {axes=[1]} : f32[n]
  return %4
}
)"),
            (Loops{{"parallel", 1}, {"for", 1}, {"reduce", 2}}));
}

TEST(FuseRows, sums_that_read_the_same_row_are_one_pass) {
  EXPECT_EQ(loops_of(R"(graph f(%0 x: f32[n, 100]) {
  %1 = sum(%0) {axes=[1]} : f32[n]
  %2 = multiply(%0, %0) : f32[n, 100]
  %3 = sum(%2) {axes=[1]} : f32[n]
  return %1, %3
}
)"),
            (Loops{{"parallel", 1}, {"for", 1}, {"reduce", 1}}));
}

TEST(FuseRows, an_expensive_value_without_a_result_to_stand_in_has_a_scratch_of_one_row_per_task) {
  const std::string text = R"(graph f(%0 x: f32[n, 64]) {
  %1 = exp(%0) : f32[n, 64]
  %2 = sum(%1) {axes=[1], keep_dims=true} : f32[n, 1]
  %3 = subtract(%1, %2) : f32[n, 64]
  %4 = max(%3) {axes=[1]} : f32[n]
  return %4
}
)";
  const Lowered program = lowered(text);
  ASSERT_EQ(lower::count_runs(program), 1U);
  ASSERT_EQ(program.buffers.size(), 3U);
  EXPECT_EQ(to_string(program.buffers[2].count), "64 * ((n + 255) / 256)");
}

TEST(FuseRows, what_others_read_is_written_on_the_way) {
  const std::string text = R"(graph f(%0 x: f32[n, 100], %1 w: f32[100, 100]) {
  %2 = tanh(%0) : f32[n, 100]
  %3 = sum(%2) {axes=[1], keep_dims=true} : f32[n, 1]
  %4 = subtract(%2, %3) : f32[n, 100]
  %5 = matmul(%2, %1) : f32[n, 100]
  return %4, %5, %3
}
)";
  const Lowered program = lowered(text);
  ASSERT_EQ(lower::count_runs(program), 2U);
  EXPECT_EQ(loops(program.launches[0].kernel->body), (Loops{{"parallel", 1}, {"for", 1}, {"reduce", 1}, {"vector", 1}}));
  EXPECT_EQ(in_memory(text), (std::set<int>{2, 3, 4, 5}));
}

TEST(FuseRows, what_needs_a_product_of_the_row_stays_behind_it) {
  const std::string text = R"(graph f(%0 x: f32[n, 64], %1 w: f32[64, 64]) {
  %2 = sum(%0) {axes=[1], keep_dims=true} : f32[n, 1]
  %3 = subtract(%0, %2) : f32[n, 64]
  %4 = matmul(%3, %1) : f32[n, 64]
  %5 = add(%0, %4) : f32[n, 64]
  %6 = sum(%5) {axes=[1], keep_dims=true} : f32[n, 1]
  %7 = subtract(%5, %6) : f32[n, 64]
  return %7
}
)";
  EXPECT_EQ(lower::count_runs(lowered(text)), 3U);
}

TEST(FuseRows, what_reads_other_rows_is_another_kernel) {
  EXPECT_EQ(lower::count_runs(lowered(R"(graph f(%0 x: f32[n, n]) {
  %1 = sum(%0) {axes=[1], keep_dims=true} : f32[n, 1]
  %2 = transpose(%1) {permutation=[1, 0]} : f32[1, n]
  %3 = subtract(%0, %2) : f32[n, n]
  return %3
}
)")),
            3U);
}

TEST(FuseRows, indices_are_checked_before_they_are_used) {
  EXPECT_EQ(lower::count_runs(lowered(R"(graph f(%0 x: i32[n, 64], %1 table: f32[9]) {
  %2 = sum(%0) {axes=[1], keep_dims=true} : i32[n, 1]
  %3 = take(%1, %2) {axis=0} : f32[n, 1]
  return %3
}
)")),
            2U);
}

const std::string distances_text = R"(graph f(%0 x: f32[n, 64], %1 dy: f32[n, 64]) {
  %2 = sum(%0) {axes=[1], keep_dims=true} : f32[n, 1]
  %3 = subtract(%0, %2) : f32[n, 64]
  %4 = multiply(%3, %3) : f32[n, 64]
  %5 = sum(%4) {axes=[1]} : f32[n]
  %6 = multiply(%3, %1) : f32[n, 64]
)";

// The gradients of scale and shift.
TEST(FuseRows, sums_along_columns_of_the_same_elements_are_part_of_it) {
  const std::string text = distances_text + R"(  %7 = sum(%6) {axes=[0]} : f32[64]
  %8 = sum(%1) {axes=[0], keep_dims=true} : f32[1, 64]
  return %5, %7, %8
}
)";
  EXPECT_EQ(in_memory(text), (std::set<int>{5, 7, 8}));
  EXPECT_EQ(lower::count_runs(lowered(text)), 1U);
}

TEST(FuseRows, what_needs_a_sum_along_columns_comes_after_it) {
  EXPECT_EQ(lower::count_runs(lowered(R"(graph f(%0 x: f32[n, n]) {
  %1 = sum(%0) {axes=[0]} : f32[n]
  %2 = sum(%0) {axes=[1]} : f32[n]
  %3 = add(%1, %2) : f32[n]
  return %3
}
)")),
            2U);
}

TEST(FuseRows, what_is_cheap_is_computed_again_by_other_kernels) {
  const std::string text = distances_text + R"(  %7 = sum(%6) {axes=[0, 1]} : f32[]
  return %5, %7
}
)";
  EXPECT_EQ(in_memory(text), (std::set<int>{2, 5, 7})) << "not the distances, which two kernels read";
  EXPECT_EQ(lower::count_runs(lowered(text)), 2U);
}

// There are a million ways from the last value to x.
TEST(FuseRows, a_chain_in_which_each_value_is_read_twice_is_planned_in_no_time) {
  std::string text = "graph f(%0 x: f32[n, 64]) {\n";
  for (int x = 0; x < 40; x += 2) {
    text += fmt::format("  %{} = tanh(%{}) : f32[n, 64]\n  %{} = add(%{}, %{}) : f32[n, 64]\n", x + 1, x, x + 2, x, x + 1);
  }
  text += R"(  %41 = sum(%40) {axes=[1]} : f32[n]
  %42 = multiply(%40, %0) : f32[n, 64]
  %43 = sum(%42) {axes=[0, 1]} : f32[]
  return %41, %43
}
)";
  EXPECT_EQ(in_memory(text), (std::set<int>{40, 41, 43}));
}

TEST(FuseRows, decisions_have_reasons) {
  Decisions decisions;
  const auto graph = graph::parse(softmax_text, find_op);
  lower::lower(*graph, decisions);
  ASSERT_FALSE(decisions.empty());
  const auto is_ours = [](const Decision& decision) { return decision.stage == "fuse_rows"; };
  ASSERT_TRUE(std::ranges::any_of(decisions, is_ours));
  for (const Decision& decision : decisions) {
    if (is_ours(decision)) {
      EXPECT_TRUE(decision.yes && decision.reason.starts_with("it walks the rows of %")) << decision.reason;
    }
  }
}

}  // namespace
}  // namespace anyshape::test
