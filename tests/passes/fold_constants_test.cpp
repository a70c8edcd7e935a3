// fold_constants: what literals make is a literal, with the bits that a run would give.
#include "passes/check_pass.h"
#include "passes/run_passes.h"

namespace anyshape::test {
namespace {

TEST(FoldConstants, computes_what_literals_make) {
  check_pass(passes::fold_constants, R"(graph f(%0 x: f32[n]) {
  %1 = constant() {dtype=f32, number=1, integer=0} : f32[]
  %2 = constant() {dtype=f32, number=3, integer=0} : f32[]
  %3 = divide(%1, %2) : f32[]
  %4 = negative(%3) : f32[]
  %5 = multiply(%0, %4) : f32[n]
  %6 = exp(%1) : f32[]
  %7 = less(%1, %2) : b8[]
  %8 = cast(%2) {dtype=i64} : i64[]
  return %5, %6, %7, %8
}
)",
             R"(graph f(%0 x: f32[n]) {
  %1 = constant() {dtype=f32, number=1, integer=0} : f32[]
  %2 = constant() {dtype=f32, number=3, integer=0} : f32[]
  %9 = constant() {dtype=f32, number=0.3333333432674408, integer=0} : f32[]
  %10 = constant() {dtype=f32, number=-0.3333333432674408, integer=0} : f32[]
  %5 = multiply(%0, %10) : f32[n]
  %11 = constant() {dtype=f32, number=2.7182817459106445, integer=0} : f32[]
  %12 = constant() {dtype=b8, number=0, integer=1} : b8[]
  %13 = constant() {dtype=i64, number=0, integer=3} : i64[]
  return %5, %11, %12, %13
}
)");
}

TEST(FoldConstants, keeps_the_sign_of_zero_and_rounds_halves) {
  check_pass(passes::fold_constants, R"(graph f(%0 x: f32[n]) {
  %1 = constant() {dtype=f32, number=0, integer=0} : f32[]
  %2 = negative(%1) : f32[]
  %3 = constant() {dtype=f32, number=0.1, integer=0} : f32[]
  %4 = cast(%3) {dtype=f16} : f16[]
  return %2, %4
}
)",
             R"(graph f(%0 x: f32[n]) {
  %1 = constant() {dtype=f32, number=0, integer=0} : f32[]
  %5 = constant() {dtype=f32, number=-0, integer=0} : f32[]
  %3 = constant() {dtype=f32, number=0.1, integer=0} : f32[]
  %6 = constant() {dtype=f16, number=0.0999755859375, integer=0} : f16[]
  return %5, %6
}
)");
}

TEST(FoldConstants, writes_sizes_that_are_numbers_and_scalars_that_were_filled) {
  check_pass(passes::fold_constants, R"(graph f(%0 x: f32[n]) {
  %1 = size() {dim=32, dtype=f32} : f32[]
  %2 = full(%1) {shape=[]} : f32[]
  %3 = multiply(%0, %2) : f32[n]
  return %3
}
)",
             R"(graph f(%0 x: f32[n]) {
  %4 = constant() {dtype=f32, number=32, integer=0} : f32[]
  %3 = multiply(%0, %4) : f32[n]
  return %3
}
)");
}

TEST(FoldConstants, leaves_what_is_not_known) {
  const std::string text = R"(graph f(%0 x: f32[n]) {
  %1 = constant() {dtype=f32, number=0, integer=0} : f32[]
  %2 = divide(%1, %1) : f32[]
  %3 = size() {dim=n, dtype=f32} : f32[]
  %4 = sqrt(%3) : f32[]
  %5 = random::normal() {shape=[], dtype=f32, stream=-1} : f32[]
  return %2, %4, %5
}
)";
  check_pass(passes::fold_constants, text, text);
}

}  // namespace
}  // namespace anyshape::test
