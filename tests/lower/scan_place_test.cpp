// Where time steps of scans read and write, as formulas: the numbers of a walk through memory, written down by hand.
#include "lower/scan_place.h"

#include "lower/lowered.h"

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

using lower::ScanItem;
using lower::ScanPlace;
using By = ScanPlace::By;

TEST(ScanPlace, counts_time_steps_rows_or_the_rows_of_all_time_steps_before) {
  const auto index = [](By by) { return ScanPlace{.buffer = 0, .by = by}.index(5, 3, 40); };
  EXPECT_EQ(index(By::Nothing), 0);
  EXPECT_EQ(index(By::Step), 5);
  EXPECT_EQ(index(By::Row), 3);
  EXPECT_EQ(index(By::StepRows), 43);
}

TEST(ScanPlace, two_buffers_take_turns_such_that_the_last_time_step_leaves_its_value_in_the_second) {
  const ScanPlace place{.buffer = 1, .other = 2};
  EXPECT_EQ(place.buffer_of(2), 1);
  EXPECT_EQ(place.buffer_of(1), 2);
  EXPECT_EQ(place.buffer_of(0), 1);
  EXPECT_EQ(place.buffer_of(-1), 2) << "what comes after the last one";
  EXPECT_EQ((ScanPlace{.buffer = 1}).buffer_of(1), 1);
}

ScanItem scan_of(const Lowered& program) {
  for (const lower::Item& item : program.blocks[0].items) {
    if (const auto* const scan = std::get_if<ScanItem>(&item)) return *scan;
  }
  ADD_FAILURE() << "no scan";
  return {};
}

TEST(ScanPlace, of_rows_that_meet_are_entries_of_the_first_axis) {
  const ScanItem scan = scan_of(lowered(R"(graph f(%0 h: f64[n, 8], %1 xs: f32[t, n, 8], %2 w: f64[8]) {
  %3, %4 = scan(%0, %1, %2) {carried=1, sequences=1, length=t, reverse=false, saved=0, active=0, rows=0, total=0} : f64[n, 8], f64[t, 1, 8]
    body(%0: f64[n, 8], %1: f32[n, 8], %2: f64[8]) {
      %3 = cast(%1) {dtype=f64} : f64[n, 8]
      %4 = add(%0, %3) : f64[n, 8]
      %5 = sum(%4) {axes=[0], keep_dims=true} : f64[1, 8]
      %6 = multiply(%4, %5) : f64[n, 8]
      %7 = multiply(%5, %2) : f64[1, 8]
      return %6, %7
    }
  return %3, %4
}
)"));
  ASSERT_EQ(scan.carried.size(), 1U);
  EXPECT_EQ(scan.carried[0].later.by, By::Nothing);
  EXPECT_EQ(scan.carried[0].later.other, scan.carried[0].last.buffer);
  EXPECT_FALSE(scan.carried[0].is_kept);
  ASSERT_EQ(scan.reads.size(), 1U) << "what is captured is read where it stands";
  EXPECT_EQ(scan.reads[0].place.by, By::Step);
  EXPECT_EQ(to_string(scan.reads[0].place.stride), "32 * n");
  ASSERT_EQ(scan.stacked.size(), 1U);
  EXPECT_EQ(scan.stacked[0].by, By::Step);
  EXPECT_EQ(to_string(scan.stacked[0].stride), "64");
}

TEST(ScanPlace, of_rows_that_do_not_meet_are_rows_and_name_no_size_of_the_body) {
  const ScanItem scan = scan_of(lowered(R"(graph f(%0 h: f64[n, 8], %1 xs: f32[t, n, 8], %2 c: f64[n, 2]) {
  %3, %4 = scan(%0, %1, %2) {carried=1, sequences=1, length=t, reverse=false, saved=0, active=0, rows=0, total=0} : f64[n, 8], f64[t, n, 1]
    body(%0: f64[n, 8], %1: f32[n, 8], %2: f64[n, 2]) {
      %3 = cast(%1) {dtype=f64} : f64[n, 8]
      %4 = add(%0, %3) : f64[n, 8]
      %5 = sum(%2) {axes=[1], keep_dims=true} : f64[n, 1]
      %6 = multiply(%4, %5) : f64[n, 8]
      return %6, %5
    }
  return %3, %4
}
)"));
  ASSERT_TRUE(scan.rows.apart);
  EXPECT_TRUE(scan.carried[0].by_rows());
  EXPECT_EQ(scan.carried[0].first.by, By::Row);
  EXPECT_EQ(to_string(scan.carried[0].first.stride), "64");
  ASSERT_EQ(scan.reads.size(), 2U);
  EXPECT_EQ(scan.reads[0].place.by, By::StepRows);
  EXPECT_EQ(to_string(scan.reads[0].place.stride), "32");
  EXPECT_EQ(scan.reads[1].place.by, By::Row);
  EXPECT_EQ(to_string(scan.reads[1].place.stride), "16");
  EXPECT_EQ(scan.stacked[0].by, By::StepRows);
  EXPECT_EQ(to_string(scan.stacked[0].stride), "8");
}

TEST(ScanPlace, of_a_carried_value_that_is_stacked_is_the_stacked_one) {
  const ScanItem scan = scan_of(lowered(R"(graph f(%0 h: f32[8], %1 xs: f32[t, 8]) {
  %2, %3 = scan(%0, %1) {carried=1, sequences=1, length=t, reverse=true, saved=1, active=0, rows=0, total=0} : f32[8], f32[t, 8]
    body(%0: f32[8], %1: f32[8]) {
      %2 = add(%0, %1) : f32[8]
      %3 = sum(%2) {axes=[0], keep_dims=true} : f32[1]
      %4 = multiply(%2, %3) : f32[8]
      return %4, %0
    }
  return %2, %3
}
)"));
  ASSERT_EQ(scan.stacked.size(), 1U);
  EXPECT_TRUE(scan.carried[0].is_kept);
  EXPECT_EQ(scan.carried[0].later.buffer, scan.stacked[0].buffer);
  EXPECT_EQ(scan.carried[0].later.by, By::Step);
  EXPECT_EQ(to_string(scan.carried[0].later.stride), "32");
}

}  // namespace
}  // namespace anyshape::test
