// What a program says of a library's work: sizes, what stands how far apart, and what follows on the blocks.
#include "lower/lowered.h"

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

const ProductWork& product_of(const lower::Program& program) { return std::get<ProductWork>(program.library_calls.at(0).work); }

std::string steps_of(const ProductWork& work) {
  std::string text;
  for (size_t axis = 0; axis < static_cast<size_t>(work.sizes.axes); ++axis) {
    const auto& each = work.sizes.batch[axis];
    text += (axis == 0 ? "" : "; ") + to_string(each.size) + ": " + to_string(each.step_a) + ", " + to_string(each.step_b);
  }
  return text;
}

TEST(LibraryCall, a_product_is_an_item_and_no_kernel) {
  const lower::Program program = lowered(R"(graph f(%0 x: f32[batch, 8], %1 w: f32[8, 16]) {
  %2 = matmul(%0, %1) : f32[batch, 16]
  return %2
}
)");
  EXPECT_TRUE(program.launches.empty());
  ASSERT_EQ(program.blocks[0].items.size(), 1U);
  EXPECT_EQ(std::get<lower::LibraryItem>(program.blocks[0].items[0]).call, 0);
  const lower::LibraryCall& call = program.library_calls.at(0);
  EXPECT_EQ(call.inputs, (std::vector<int>{0, 1}));
  EXPECT_EQ(call.outputs.size(), 1U);
  EXPECT_EQ(call.epilogue, -1);
  EXPECT_EQ(call.ops, std::vector<std::string>{"%2 matmul"});
  EXPECT_EQ(to_string(call.work), "product of [batch, 8] and [8, 16]");
  EXPECT_EQ(to_string(flops_of(call.work)), "256 * batch");
}

TEST(LibraryCall, with_one_matrix_b_a_batch_is_more_rows) {
  const lower::Program program = lowered(R"(graph f(%0 x: f32[batch, time, 8], %1 w: f32[1, 8, 16]) {
  %2 = matmul(%0, %1) : f32[batch, time, 16]
  return %2
}
)");
  EXPECT_EQ(to_string(product_of(program).sizes.m), "batch * time");
  EXPECT_EQ(product_of(program).sizes.axes, 0);
}

TEST(LibraryCall, a_matrix_that_all_entries_share_is_nothing_apart_from_itself) {
  const lower::Program program = lowered(R"(graph f(%0 x: f32[h, n, 8], %1 w: f32[b, 1, 8, 16]) {
  %2 = matmul(%0, %1) : f32[b, h, n, 16]
  return %2
}
)");
  EXPECT_EQ(steps_of(product_of(program)), "b: 0, 128; h: 8 * n, 0");
  EXPECT_EQ(to_string(flops_of(program.library_calls[0].work)), "256 * h * n * b");
}

TEST(LibraryCall, an_axis_that_is_1_or_not_is_a_formula) {
  const lower::Program program = lowered(R"(graph f(%0 x: f32[m, 4, 8], %1 w: f32[k, 8, 2]) {
  check matmul: m broadcasts with k
  %2 = matmul(%0, %1) : f32[bcast(m, k), 4, 2]
  return %2
}
)");
  EXPECT_EQ(steps_of(product_of(program)), "bcast(m, k): 32 * min(m - 1, 1), 16 * min(k - 1, 1)");
}

TEST(LibraryCall, what_follows_is_a_kernel_with_the_bounds_of_a_block_before_its_sizes) {
  const lower::Program program = lowered(R"(graph f(%0 x: f32[b, n, 8], %1 w: f32[8, 16]) {
  %2 = matmul(%0, %1) : f32[b, n, 16]
  %3 = tanh(%2) : f32[b, n, 16]
  return %3
}
)");
  ASSERT_EQ(program.launches.size(), 1U);
  EXPECT_EQ(program.blocks[0].items.size(), 1U);
  EXPECT_EQ(program.library_calls.at(0).epilogue, 0);
  const lower::Launch& launch = program.launches[0];
  const std::vector<std::string> bounds{"first_row", "end_row", "first_column", "end_column"};
  ASSERT_GE(launch.kernel->dims.size(), bounds.size());
  EXPECT_EQ(std::vector<std::string>(launch.kernel->dims.begin(), launch.kernel->dims.begin() + lower::block_bounds), bounds);
  EXPECT_EQ(to_string(launch.dims[0]) + ", " + to_string(launch.dims[1]), "0, b * n");
  EXPECT_EQ(to_string(launch.dims[2]) + ", " + to_string(launch.dims[3]), "0, 16");
  EXPECT_EQ(lower::count_runs(program), 1U);
}

// Whatever the widths of the layers.
TEST(LibraryCall, equal_epilogues_are_one_kernel) {
  const lower::Program program = lowered(R"(graph f(%0 x: f32[n, 16], %1 v: f32[16, 16], %2 w: f32[16, 16]) {
  %3 = matmul(%0, %1) : f32[n, 16]
  %4 = tanh(%3) : f32[n, 16]
  %5 = matmul(%4, %2) : f32[n, 16]
  %6 = tanh(%5) : f32[n, 16]
  return %6
}
)");
  ASSERT_EQ(program.launches.size(), 2U);
  EXPECT_EQ(program.launches[0].kernel, program.launches[1].kernel);
}

TEST(LibraryCall, indices_that_an_epilogue_reads_by_are_checked_before_the_product_runs) {
  const lower::Program program = lowered(R"(graph f(%0 x: f32[n, 8], %1 w: f32[8, 16], %2 table: f32[9, 16], %3 ids: i32[n]) {
  %4 = matmul(%0, %1) : f32[n, 16]
  %5 = take(%2, %3) {axis=0} : f32[n, 16]
  %6 = add(%4, %5) : f32[n, 16]
  return %6
}
)");
  ASSERT_EQ(program.blocks[0].items.size(), 2U);
  const lower::Launch& check = program.launches.at(static_cast<size_t>(std::get<int>(program.blocks[0].items[0])));
  EXPECT_EQ(check.kernel->name, "check_matmul_add");
  EXPECT_EQ(check.ops, std::vector<std::string>{"%5 take"});
  EXPECT_TRUE(std::holds_alternative<lower::LibraryItem>(program.blocks[0].items[1]));
  EXPECT_EQ(program.blocks[0].indexed_ops.size(), 1U);
}

const char* const convolution = R"(graph f(%0 x: f32[n, h, w, 4], %1 k: f32[3, 3, 2, 8], %2 bias: f32[8]) {
  %3 = convolution(%0, %1) {strides=[2, 1], dilation=[1, 1], before=[1, 1], padding=[], sizes=[(h + 1) / 2, w], groups=2} : f32[n, (h + 1) / 2, w, 8]
  %4 = add(%3, %2) : f32[n, (h + 1) / 2, w, 8]
  return %4
}
)";

TEST(LibraryCall, a_convolution_is_one_whose_rows_are_pixels) {
  const lower::Program program = lowered(convolution);
  const lower::LibraryCall& call = program.library_calls.at(0);
  EXPECT_EQ(to_string(call.work), "convolution of [n, h, w, 4] to [n, (h + 1) / 2, w, 8], 3 x 3 taps, strides 2 x 1, 2 groups");
  EXPECT_EQ(to_string(flops_of(call.work)), "288 * ((h + 1) / 2) * n * w");
  const auto& axes = std::get<ConvolutionWork>(call.work).sizes.axes;
  EXPECT_TRUE(axes[0].input.same_as(1) && axes[0].taps.same_as(1) && axes[0].before.same_as(0)) << "an axis that is not there";
  ASSERT_EQ(call.epilogue, 0);
  EXPECT_EQ(to_string(program.launches[0].dims[1]), "((h + 1) / 2) * n * w");
  EXPECT_EQ(lower::count_runs(program), 1U);
}

TEST(LibraryCall, a_gradient_of_a_kernel_has_scratch_for_its_sums) {
  const lower::Program program = lowered(R"(graph f(%0 x: f32[n, t, 4], %1 dy: f32[n, t, 8]) {
  %2 = convolution_kernel_gradient(%0, %1) {strides=[1], dilation=[2], before=[2], padding=[], sizes=[3, 4], groups=1} : f32[3, 4, 8]
  return %2
}
)");
  const lower::LibraryCall& call = program.library_calls.at(0);
  EXPECT_EQ(to_string(call.work), "kernel gradient of a convolution of [n, t, 4] to [n, t, 8], 3 taps, dilation 2");
  EXPECT_EQ(call.scratch.size(), 1U);
}

TEST(LibraryCall, sorting_is_one_with_rows_before_and_behind_the_axis) {
  const lower::Program dense = lowered(R"(graph f(%0 x: f64[n, 7, 3]) {
  %1, %2 = top_k(%0) {axis=1, k=2} : f64[n, 2, 3], i32[n, 2, 3]
  return %1, %2
}
)");
  EXPECT_TRUE(dense.launches.empty());
  EXPECT_EQ(to_string(dense.library_calls.at(0).work), "sort of 3 * n rows, the first 2 of 7 elements, f64, from the greatest");
  EXPECT_EQ(dense.library_calls[0].outputs.size(), 2U);
  EXPECT_EQ(to_string(dense.buffers[static_cast<size_t>(dense.library_calls[0].scratch.at(0))].count), "42 * n")
      << "two words for each key";
}

TEST(LibraryCall, row_splits_are_checked_before_rows_are_sorted_by_them) {
  const lower::Program program = lowered(R"(graph f(%0 x: i32[total, 5], %1 splits: i64[rows]) {
  check segment_sort: 1 <= rows
  check segment_sort: total <= 2147483647
  %2, %3 = segment_sort(%0, %1) {descending=false} : i32[total, 5], i32[total, 5]
  return %2, %3
}
)");
  ASSERT_EQ(program.blocks[0].items.size(), 2U);
  EXPECT_EQ(program.launches.at(0).kernel->name, "check_segment_sort");
  EXPECT_EQ(to_string(program.library_calls.at(0).work), "sort of rows - 1 rows by splits, total elements, 5 columns, i32");
}

TEST(LibraryCall, other_dtypes_are_loops) {
  for (const std::string dtype : {"f64", "i32"}) {
    const lower::Program program = lowered("graph f(%0 x: " + dtype + "[n, 8], %1 w: " + dtype +
                                           "[8, 16]) {\n  %2 = matmul(%0, %1) : " + dtype + "[n, 16]\n  return %2\n}\n");
    EXPECT_TRUE(program.library_calls.empty()) << dtype;
    EXPECT_EQ(program.launches.size(), 1U) << dtype;
  }
}

}  // namespace
}  // namespace anyshape::test
