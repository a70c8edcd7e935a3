// simplify_algebra: arithmetic that changes no number is gone; what would change NaN, an infinity or -0 stays.
#include "passes/check_pass.h"
#include "passes/run_passes.h"

namespace anyshape::test {
namespace {

std::string graph_of(const std::string& lines, const std::string& results) {
  return "graph f(%0 x: f32[n, 4], %1 y: f32[4], %2 i: i32[n]) {\n"
         "  %3 = constant() {dtype=f32, number=0, integer=0} : f32[]\n"
         "  %4 = constant() {dtype=f32, number=-0, integer=0} : f32[]\n"
         "  %5 = constant() {dtype=f32, number=1, integer=0} : f32[]\n"
         "  %6 = constant() {dtype=f32, number=8, integer=0} : f32[]\n"
         "  %7 = constant() {dtype=i32, number=0, integer=0} : i32[]\n"
         "  %8 = constant() {dtype=b8, number=0, integer=1} : b8[]\n" +
         lines + "  return " + results + "\n}\n";
}
void becomes(const std::string& before, const std::string& results, const std::string& after, const std::string& new_results) {
  check_pass(passes::simplify_algebra, graph_of(before, results), graph_of(after, new_results));
}
void stays(const std::string& lines, const std::string& results) { becomes(lines, results, lines, results); }

TEST(SimplifyAlgebra, neutral_operands_go) {
  becomes("  %9 = add(%0, %4) : f32[n, 4]\n", "%9", "", "%0");
  becomes("  %9 = subtract(%0, %3) : f32[n, 4]\n", "%9", "", "%0");
  becomes("  %9 = multiply(%0, %5) : f32[n, 4]\n", "%9", "", "%0");
  becomes("  %9 = multiply(%5, %0) : f32[n, 4]\n", "%9", "", "%0");
  becomes("  %9 = divide(%0, %5) : f32[n, 4]\n", "%9", "", "%0");
  becomes("  %9 = add(%2, %7) : i32[n]\n", "%9", "", "%2");
}

TEST(SimplifyAlgebra, adding_zero_goes_where_there_is_no_negative_zero) {
  stays("  %9 = add(%0, %3) : f32[n, 4]\n", "%9");
  stays("  %9 = subtract(%0, %4) : f32[n, 4]\n", "%9");
  becomes("  %9 = exp(%0) : f32[n, 4]\n  %10 = add(%3, %9) : f32[n, 4]\n", "%10", "  %9 = exp(%0) : f32[n, 4]\n", "%9");
  becomes("  %9 = sum(%0) {axes=[1], keep_dims=false} : f32[n]\n  %10 = add(%9, %3) : f32[n]\n", "%10",
          "  %9 = sum(%0) {axes=[1], keep_dims=false} : f32[n]\n", "%9");
}

TEST(SimplifyAlgebra, a_neutral_operand_that_gives_the_shape_leaves_a_broadcast) {
  becomes("  %9 = full(%5) {shape=[n, 4]} : f32[n, 4]\n  %10 = multiply(%1, %9) : f32[n, 4]\n", "%10",
          "  %9 = full(%5) {shape=[n, 4]} : f32[n, 4]\n  %11 = broadcast_to(%1) {shape=[n, 4]} : f32[n, 4]\n", "%11");
}

TEST(SimplifyAlgebra, not_a_number_is_kept) {
  stays("  %9 = multiply(%0, %3) : f32[n, 4]\n", "%9");
  stays("  %9 = subtract(%0, %0) : f32[n, 4]\n", "%9");
  stays("  %9 = divide(%0, %0) : f32[n, 4]\n", "%9");
  stays("  %9 = equal(%0, %0) : b8[n, 4]\n", "%9");
  becomes("  %9 = multiply(%2, %7) : i32[n]\n", "%9", "  %10 = full(%7) {shape=[n]} : i32[n]\n", "%10");
}

TEST(SimplifyAlgebra, signs_are_taken_along) {
  becomes("  %9 = negative(%0) : f32[n, 4]\n  %10 = negative(%9) : f32[n, 4]\n", "%10", "  %9 = negative(%0) : f32[n, 4]\n", "%0");
  becomes("  %9 = negative(%1) : f32[4]\n  %10 = add(%0, %9) : f32[n, 4]\n", "%10",
          "  %9 = negative(%1) : f32[4]\n  %11 = subtract(%0, %1) : f32[n, 4]\n", "%11");
  becomes("  %9 = negative(%1) : f32[4]\n  %10 = add(%9, %0) : f32[n, 4]\n", "%10",
          "  %9 = negative(%1) : f32[4]\n  %11 = subtract(%0, %1) : f32[n, 4]\n", "%11");
  becomes("  %9 = negative(%1) : f32[4]\n  %10 = subtract(%0, %9) : f32[n, 4]\n", "%10",
          "  %9 = negative(%1) : f32[4]\n  %11 = add(%0, %1) : f32[n, 4]\n", "%11");
}

TEST(SimplifyAlgebra, repeated_operands_and_known_conditions) {
  becomes("  %9 = maximum(%0, %0) : f32[n, 4]\n", "%9", "", "%0");
  becomes("  %9 = where(%8, %0, %3) : f32[n, 4]\n", "%9", "", "%0");
  becomes("  %9 = where(%8, %3, %0) : f32[n, 4]\n", "%9", "  %10 = full(%3) {shape=[n, 4]} : f32[n, 4]\n", "%10");
  becomes("  %9 = less(%0, %1) : b8[n, 4]\n  %10 = logical_or(%9, %9) : b8[n, 4]\n  %11 = where(%10, %0, %0) : f32[n, 4]\n", "%11",
          "  %9 = less(%0, %1) : b8[n, 4]\n", "%0");
}

TEST(SimplifyAlgebra, casts_join_where_the_first_loses_nothing) {
  becomes("  %9 = cast(%0) {dtype=f64} : f64[n, 4]\n  %10 = cast(%9) {dtype=i32} : i32[n, 4]\n", "%10",
          "  %9 = cast(%0) {dtype=f64} : f64[n, 4]\n  %11 = cast(%0) {dtype=i32} : i32[n, 4]\n", "%11");
  becomes("  %9 = cast(%0) {dtype=f64} : f64[n, 4]\n  %10 = cast(%9) {dtype=f32} : f32[n, 4]\n", "%10",
          "  %9 = cast(%0) {dtype=f64} : f64[n, 4]\n", "%0");
  stays("  %9 = cast(%0) {dtype=f16} : f16[n, 4]\n  %10 = cast(%9) {dtype=f32} : f32[n, 4]\n", "%10");
  stays("  %9 = cast(%2) {dtype=f32} : f32[n]\n  %10 = cast(%9) {dtype=i32} : i32[n]\n", "%10");
}

TEST(SimplifyAlgebra, dividing_by_a_power_of_two_is_multiplying) {
  becomes("  %9 = divide(%0, %6) : f32[n, 4]\n", "%9",
          "  %10 = constant() {dtype=f32, number=0.125, integer=0} : f32[]\n  %11 = multiply(%0, %10) : f32[n, 4]\n", "%11");
  stays("  %9 = constant() {dtype=f32, number=3, integer=0} : f32[]\n  %10 = divide(%0, %9) : f32[n, 4]\n", "%10");
}

}  // namespace
}  // namespace anyshape::test
