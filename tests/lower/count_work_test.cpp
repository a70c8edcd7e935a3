// FLOPs and bytes as formulas: against what a person counts.
#include "lower/count_work.h"
#include "base/switches.h"
#include "lower/lowered.h"

#include <anyshape/dim.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

lower::Work work_of(const std::string& text) { return lower::count_block(lowered(text), 0); }
std::string flops_of(const std::string& text) {
  const lower::Work work = work_of(text);
  return (work.is_bound ? "<= " : "") + to_string(work.flops) + (work.depends_on_data ? " + ?" : "");
}

TEST(CountWork, an_elementwise_op_counts_once_for_each_element_and_reads_and_writes_each_value_once) {
  const lower::Work work = work_of(R"(graph f(%0 x: f32[n, m], %1 y: f32[m]) {
  %2 = add(%0, %1) : f32[n, m]
  %3 = multiply(%2, %0) : f32[n, m]
  return %3
}
)");
  EXPECT_EQ(to_string(work.flops), "2 * n * m");
  EXPECT_EQ(to_string(work.bytes_read), "4 * n * m + 4 * m");
  EXPECT_EQ(to_string(work.bytes_written), "4 * n * m");
  EXPECT_FALSE(work.is_bound || work.depends_on_data);
}

TEST(CountWork, what_a_kernel_has_written_itself_it_does_not_read_from_memory) {
  const std::string text = R"(graph f(%0 x: f32[n, 300]) {
  %1 = exp(%0) : f32[n, 300]
  %2 = sum(%1) {axes=[1], keep_dims=true} : f32[n, 1]
  %3 = divide(%1, %2) : f32[n, 300]
  return %3
}
)";
  ASSERT_EQ(lowered(text).launches.size(), 1U);
  EXPECT_EQ(to_string(work_of(text).bytes_read), "1200 * n");
  EXPECT_EQ(to_string(work_of(text).bytes_written), "1200 * n");
}

TEST(CountWork, integers_and_comparisons_are_no_floating_point_work) {
  EXPECT_EQ(flops_of(R"(graph f(%0 x: i32[n], %1 y: f32[n]) {
  %2 = add(%0, %0) : i32[n]
  %3 = less(%1, %1) : b8[n]
  return %2, %3
}
)"),
            "0");
}

TEST(CountWork, rows_walked_several_at_once_do_what_each_does_by_itself) {
  for (const std::string width : {"40", "m"}) {
    const std::string shape = "f32[n, " + width + "]", text = "graph f(%0 x: " + shape + R"() {
  %1 = max(%0) {axes=[1], keep_dims=true} : f32[n, 1]
  %2 = subtract(%0, %1) : )" + shape + R"(
  %3 = sum(%2) {axes=[1], keep_dims=true} : f32[n, 1]
  %4 = divide(%2, %3) : )" + shape + R"(
  return %4
}
)";
    const std::string together = flops_of(text);
    const ScopedWithout without("rows_together");
    EXPECT_EQ(flops_of(text), together);
    EXPECT_EQ(together.find('?'), std::string::npos) << together;
  }
}

// Long runs are added in parts: joining these is not counted.
TEST(CountWork, a_reduction_is_one_addition_for_each_element_however_it_is_cut) {
  for (const char* axes : {"[0, 1]", "[0]", "[1]"}) {
    const std::string shape = std::string(axes) == "[0, 1]" ? "f32[]" : std::string(axes) == "[0]" ? "f32[512]" : "f32[n]";
    EXPECT_EQ(flops_of("graph f(%0 x: f32[n, 512]) {\n  %1 = sum(%0) {axes=" + std::string(axes) + "} : " + shape + "\n  return %1\n}\n"),
              "512 * n")
        << axes;
  }
}

TEST(CountWork, an_axis_that_is_kept_or_summed_is_walked_once) {
  EXPECT_EQ(flops_of(R"(graph f(%0 x: f32[m, 8], %1 like: f32[k, 8]) {
  check sum_to: k broadcasts with m
  check sum_to: bcast(m, k) == m
  %2 = sum_to(%0) {shape=[k, 8]} : f32[k, 8]
  return %2
}
)"),
            "8 * m");
}

TEST(CountWork, a_product_is_two_m_n_k_by_the_library_and_in_loops) {
  for (const std::string dtype : {"f32", "f64"}) {
    EXPECT_EQ(flops_of("graph f(%0 a: " + dtype + "[n, 784], %1 b: " + dtype + "[784, 512]) {\n  %2 = matmul(%0, %1) : " + dtype +
                       "[n, 512]\n  return %2\n}\n"),
              "802816 * n")
        << dtype;
    EXPECT_EQ(flops_of("graph f(%0 a: " + dtype + "[h, n, k], %1 b: " + dtype + "[h, k, m]) {\n  %2 = matmul(%0, %1) : " + dtype +
                       "[h, n, m]\n  return %2\n}\n"),
              "2 * h * n * k * m")
        << dtype;
  }
}

TEST(CountWork, of_a_table_no_more_is_read_than_is_asked_for) {
  const lower::Work work = work_of(R"(graph f(%0 table: f32[10000, 64], %1 ids: i32[n]) {
  %2 = take(%0, %1) {axis=0} : f32[n, 64]
  return %2
}
)");
  EXPECT_EQ(to_string(work.bytes_read), "4 * min(64 * n, 640000) + 4 * n");
  EXPECT_EQ(to_string(work.bytes_written), "256 * n");
}

}  // namespace
}  // namespace anyshape::test
