// clean_gradients: sums of parts that do not meet are put one after the other, and one index per row is a choice.
#include "passes/check_pass.h"
#include "passes/run_passes.h"

namespace anyshape::test {
namespace {

TEST(CleanGradients, parts_that_fill_the_whole_stand_one_after_the_other) {
  const std::string parts = R"(graph f(%0 a: f32[n, 2], %1 b: f32[n, k], %2 c: f32[n, 3]) {
  %3 = constant() {dtype=f32, number=0, integer=0} : f32[]
  %4 = exp(%2) : f32[n, 3]
  %5 = pad(%4, %3) {begins=[0, k + 2], steps=[1, 1], shape=[n, k + 5]} : f32[n, k + 5]
  %6 = pad(%1, %3) {begins=[0, 2], steps=[1, 1], shape=[n, k + 5]} : f32[n, k + 5]
  %7 = add(%5, %6) : f32[n, k + 5]
  %8 = pad(%0, %3) {begins=[0, 0], steps=[1, 1], shape=[n, k + 5]} : f32[n, k + 5]
)";
  check_pass(passes::clean_gradients, parts + R"(  %9 = add(%7, %8) : f32[n, k + 5]
  return %9
}
)",
             parts + R"(  %10 = constant() {dtype=f32, number=0, integer=0} : f32[]
  %11 = add(%0, %10) : f32[n, 2]
  %12 = constant() {dtype=f32, number=0, integer=0} : f32[]
  %13 = add(%1, %12) : f32[n, k]
  %14 = concat(%11, %13, %4) {axis=1} : f32[n, k + 5]
  return %14
}
)");
}

TEST(CleanGradients, one_other_term_is_added_to_the_parts) {
  const std::string parts = R"(graph f(%0 a: f32[2], %1 b: f32[3], %2 c: f32[5]) {
  %3 = constant() {dtype=f32, number=0, integer=0} : f32[]
  %4 = exp(%0) : f32[2]
  %5 = exp(%1) : f32[3]
  %6 = pad(%4, %3) {begins=[0], steps=[1], shape=[5]} : f32[5]
  %7 = add(%2, %6) : f32[5]
  %8 = pad(%5, %3) {begins=[2], steps=[1], shape=[5]} : f32[5]
)";
  check_pass(passes::clean_gradients, parts + R"(  %9 = add(%7, %8) : f32[5]
  return %9
}
)",
             parts + R"(  %10 = concat(%4, %5) {axis=0} : f32[5]
  %11 = add(%2, %10) : f32[5]
  return %11
}
)");
}

TEST(CleanGradients, parts_that_leave_room_or_meet_stay) {
  const std::string text = R"(graph f(%0 a: f32[2], %1 b: f32[3]) {
  %2 = constant() {dtype=f32, number=0, integer=0} : f32[]
  %3 = pad(%0, %2) {begins=[0], steps=[1], shape=[6]} : f32[6]
  %4 = pad(%1, %2) {begins=[3], steps=[1], shape=[6]} : f32[6]
  %5 = add(%3, %4) : f32[6]
  %6 = pad(%0, %2) {begins=[0], steps=[1], shape=[4]} : f32[4]
  %7 = pad(%1, %2) {begins=[1], steps=[1], shape=[4]} : f32[4]
  %8 = add(%6, %7) : f32[4]
  return %5, %8
}
)";
  check_pass(passes::clean_gradients, text, text);
}

TEST(CleanGradients, one_index_per_row_is_a_choice) {
  const std::string head = R"(graph f(%0 x: f32[n, 10], %1 i: i32[n], %2 dy: f32[n]) {
  %3 = take(%0, %1) {axis=1, batch_dims=1, from_end=false} : f32[n]
  %4 = exp(%2) : f32[n]
)";
  check_pass(passes::clean_gradients,
             head + R"(  %5 = take_gradient(%4, %1) {axis=1, batch_dims=1, from_end=false, shape=[n, 10]} : f32[n, 10]
  return %3, %5
}
)",
             head + R"(  %6 = one_hot(%1) {classes=10, axis=-1, dtype=b8} : b8[n, 10]
  %7 = constant() {dtype=f32, number=0, integer=0} : f32[]
  %8 = reshape(%4) {shape=[n, 1]} : f32[n, 1]
  %9 = where(%6, %8, %7) : f32[n, 10]
  return %3, %9
}
)");
}

TEST(CleanGradients, indices_that_nobody_else_checks_stay_with_the_scatter) {
  const std::string text = R"(graph f(%0 x: f32[n, 10], %1 i: i32[n], %2 dy: f32[n]) {
  %3 = take_gradient(%2, %1) {axis=1, batch_dims=1, from_end=false, shape=[n, 10]} : f32[n, 10]
  return %3
}
)";
  check_pass(passes::clean_gradients, text, text);
}

}  // namespace
}  // namespace anyshape::test
