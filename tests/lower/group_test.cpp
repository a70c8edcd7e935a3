// Grouping: which values stay out of memory.
#include "base/switches.h"
#include "lower/lowered.h"

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

using Ids = std::set<int>;

TEST(Group, a_chain_of_elementwise_ops_is_one_kernel) {
  const std::string text = R"(graph f(%0 x: f32[n, m], %1 y: f32[n, m]) {
  %2 = add(%0, %1) : f32[n, m]
  %3 = tanh(%2) : f32[n, m]
  %4 = multiply(%3, %3) : f32[n, m]
  return %4
}
)";
  EXPECT_EQ(in_memory(text), (Ids{4}));
  EXPECT_EQ(lower::count_runs(lowered(text)), 1U);
}

TEST(Group, an_elementwise_chain_goes_into_the_reduction_that_reads_it) {
  const ScopedWithout without("fuse_rows");
  const std::string text = R"(graph f(%0 x: f32[n, m]) {
  %1 = exp(%0) : f32[n, m]
  %2 = sum(%1) {axes=[1]} : f32[n]
  %3 = log(%2) : f32[n]
  return %3
}
)";
  EXPECT_EQ(in_memory(text), (Ids{2, 3}));
}

TEST(Group, a_value_with_two_users_in_one_loop_is_computed_once_and_stays_there) {
  const std::string text = R"(graph f(%0 x: f32[n]) {
  %1 = exp(%0) : f32[n]
  %2 = tanh(%1) : f32[n]
  %3 = add(%1, %2) : f32[n]
  return %3
}
)";
  EXPECT_EQ(in_memory(text), (Ids{3}));
  const std::string kernel = loop::print(*lowered(text).launches.at(0).kernel);
  EXPECT_EQ(kernel.find("b1[", kernel.find("b1[") + 1), std::string::npos) << kernel;  // x is read once
}

TEST(Group, a_value_that_is_read_at_two_indices_is_in_memory) {
  EXPECT_EQ(in_memory(R"(graph f(%0 x: f32[4, 4]) {
  %1 = exp(%0) : f32[4, 4]
  %2 = transpose(%1) {permutation=[1, 0]} : f32[4, 4]
  %3 = add(%1, %2) : f32[4, 4]
  return %3
}
)"),
            (Ids{1, 3}));
}

// The slots and the weight of Adam: three results from one pass over memory.
TEST(Group, results_that_share_what_they_read_are_written_by_one_kernel) {
  const std::string text = R"(graph f(%0 w: f32[n], %1 g: f32[n], %2 m: f32[n]) {
  %3 = add(%2, %1) : f32[n]
  %4 = multiply(%1, %1) : f32[n]
  %5 = subtract(%0, %3) : f32[n]
  return %3, %4, %5
}
)";
  const Lowered program = lowered(text);
  ASSERT_EQ(lower::count_runs(program), 1U);
  EXPECT_EQ(program.launches[0].buffers.size(), 6U);
}

// The step of an LSTM: gates of one product, and what is made of them.
TEST(Group, gates_of_one_product_are_one_kernel) {
  const std::string text = R"(graph f(%0 x: f32[n, 64], %1 b: f32[64], %2 c: f32[n, 32]) {
  %3 = add(%0, %1) : f32[n, 64]
  %4 = slice(%3) {begins=[0, 0], sizes=[n, 32], steps=[1, 1]} : f32[n, 32]
  %5 = slice(%3) {begins=[0, 32], sizes=[n, 32], steps=[1, 1]} : f32[n, 32]
  %6 = sigmoid(%4) : f32[n, 32]
  %7 = tanh(%5) : f32[n, 32]
  %8 = multiply(%6, %7) : f32[n, 32]
  %9 = add(%8, %2) : f32[n, 32]
  return %6, %7, %9
}
)";
  EXPECT_EQ(in_memory(text), (Ids{6, 7, 9}));
  EXPECT_EQ(lower::count_runs(lowered(text)), 1U);
}

TEST(Group, slices_that_overlap_share_what_they_read_in_memory) {
  EXPECT_EQ(in_memory(R"(graph f(%0 x: f32[n, 64]) {
  %1 = exp(%0) : f32[n, 64]
  %2 = slice(%1) {begins=[0, 0], sizes=[n, 32], steps=[1, 1]} : f32[n, 32]
  %3 = slice(%1) {begins=[0, 31], sizes=[n, 32], steps=[1, 1]} : f32[n, 32]
  %4 = add(%2, %3) : f32[n, 32]
  return %4
}
)"),
            (Ids{1, 4}));
}

TEST(Group, parts_are_written_where_they_stand_in_the_whole) {
  const std::string text = R"(graph f(%0 x: f32[n, 32], %1 y: f32[n, 32], %2 w: f32[64, 4]) {
  %3 = tanh(%0) : f32[n, 32]
  %4 = multiply(%0, %1) : f32[n, 32]
  %5 = concat(%3, %4) {axis=-1} : f32[n, 64]
  %6 = matmul(%5, %2) {transpose_a=false, transpose_b=false} : f32[n, 4]
  return %6, %4
}
)";
  const Lowered program = lowered(text);
  ASSERT_EQ(lower::count_runs(program), 2U) << "one loop, one product";
  EXPECT_EQ(program.launches[0].buffers.size(), 4U) << "x, y, the whole, and the part that is a result";
}

TEST(Group, parts_that_a_product_makes_are_copied) {
  EXPECT_EQ(lower::count_runs(lowered(R"(graph f(%0 x: f32[n, 32], %1 w: f32[32, 32]) {
  %2 = matmul(%0, %1) {transpose_a=false, transpose_b=false} : f32[n, 32]
  %3 = exp(%0) : f32[n, 32]
  %4 = concat(%2, %3) {axis=1} : f32[n, 64]
  return %4
}
)")),
            3U);
}

TEST(Group, loops_that_share_nothing_stay_apart) {
  EXPECT_EQ(lower::count_runs(lowered(R"(graph f(%0 x: f32[n], %1 y: f32[n]) {
  %2 = exp(%0) : f32[n]
  %3 = exp(%1) : f32[n]
  return %2, %3
}
)")),
            2U);
}

TEST(Group, what_needs_the_whole_of_an_earlier_loop_comes_after_it) {
  const std::string text = R"(graph f(%0 x: f32[n]) {
  %1 = exp(%0) : f32[n]
  %2 = sum(%1) {axes=[0]} : f32[]
  %3 = divide(%1, %2) : f32[n]
  return %3
}
)";
  EXPECT_EQ(in_memory(text), (Ids{1, 2, 3}));
  EXPECT_EQ(lower::count_runs(lowered(text)), 3U);
}

TEST(Group, a_result_that_is_also_used_is_in_memory) {
  EXPECT_EQ(in_memory(R"(graph f(%0 x: f32[n]) {
  %1 = exp(%0) : f32[n]
  %2 = tanh(%1) : f32[n]
  return %1, %2
}
)"),
            (Ids{1, 2}));
}

TEST(Group, what_is_broadcast_is_computed_once_per_element) {
  EXPECT_EQ(in_memory(R"(graph f(%0 x: f32[n, m], %1 row: f32[m]) {
  %2 = exp(%1) : f32[m]
  %3 = add(%0, %2) : f32[n, m]
  return %3
}
)"),
            (Ids{2, 3}));
}

TEST(Group, constants_and_sizes_are_never_in_memory) {
  EXPECT_EQ(in_memory(R"(graph f(%0 x: f32[n]) {
  %1 = constant() {number=2} : f32[]
  %2 = size() {dim=n, dtype=f32} : f32[]
  %3 = multiply(%0, %1) : f32[n]
  %4 = divide(%3, %2) : f32[n]
  %5 = multiply(%4, %1) : f32[n]
  return %5
}
)"),
            (Ids{5}));
}

TEST(Group, what_take_reads_out_of_order_stands_in_memory) {
  EXPECT_EQ(in_memory(R"(graph f(%0 table: f32[n, 4], %1 ids: i32[m]) {
  %2 = exp(%0) : f32[n, 4]
  %3 = add(%1, %1) : i32[m]
  %4 = take(%2, %3) {axis=0} : f32[m, 4]
  %5 = tanh(%4) : f32[m, 4]
  return %5
}
)"),
            (Ids{2, 3, 5}))
      << "the table, and indices that are checked before they are used";
}

TEST(Group, what_a_product_reads_stands_in_memory) {
  EXPECT_EQ(in_memory(R"(graph f(%0 x: f32[n, 4], %1 w: f32[4, 3]) {
  %2 = exp(%0) : f32[n, 4]
  %3 = matmul(%2, %1) : f32[n, 3]
  %4 = tanh(%3) : f32[n, 3]
  return %4
}
)"),
            (Ids{2, 3, 4}));
}

TEST(Group, reshape_needs_no_kernel) {
  const std::string text = R"(graph f(%0 x: f32[n, m]) {
  %1 = exp(%0) : f32[n, m]
  %2 = reshape(%1) {shape=[m * n]} : f32[m * n]
  return %2
}
)";
  EXPECT_EQ(lower::count_runs(lowered(text)), 1U);
}

TEST(Group, a_long_chain_is_cut) {
  std::string text = "graph f(%0 x: f32[n]) {\n";
  const int length = 100;
  for (int i = 1; i <= length; ++i) text += "  %" + std::to_string(i) + " = tanh(%" + std::to_string(i - 1) + ") : f32[n]\n";
  text += "  return %" + std::to_string(length) + "\n}\n";
  const Ids cut = in_memory(text);
  EXPECT_EQ(cut.size(), 3U) << "48 ops, 48 ops and the rest";
  int previous = 0;
  for (int id : cut) {
    EXPECT_LE(id - previous, 48);
    previous = id;
  }
  EXPECT_EQ(lower::count_runs(lowered(text)), 3U);
}

// What a row has goes into the loop of what uses it; the row ids are one kernel.
TEST(Group, what_is_repeated_for_each_element_of_a_row_fuses) {
  EXPECT_EQ(in_memory(R"(graph f(%0 x: f32[n, m], %1 y: f32[rows, m], %2 splits: i64[rows + 1]) {
  %3 = row_ids(%2) {total=n} : i64[n]
  %4 = segment_repeat(%1, %3, %2) : f32[n, m]
  %5 = multiply(%0, %4) : f32[n, m]
  %6 = exp(%5) : f32[n, m]
  return %6
}
)"),
            (Ids{3, 6}));
}

}  // namespace
}  // namespace anyshape::test
