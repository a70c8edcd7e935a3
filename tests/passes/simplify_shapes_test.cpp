// simplify_shapes: movement in fewer steps, broadcasts that nobody writes, and what is the same everywhere as one number.
#include "passes/check_pass.h"
#include "passes/run_passes.h"

namespace anyshape::test {
namespace {

void stays(const std::string& text) { check_pass(passes::simplify_shapes, text, text); }

TEST(SimplifyShapes, joins_reshapes_to_one_or_to_none) {
  check_pass(passes::simplify_shapes, R"(graph f(%0 x: f32[n, 4]) {
  %1 = reshape(%0) {shape=[1, n, 4]} : f32[1, n, 4]
  %2 = reshape(%1) {shape=[n, 4]} : f32[n, 4]
  %3 = exp(%2) : f32[n, 4]
  %4 = reshape(%1) {shape=[4 * n]} : f32[4 * n]
  return %3, %4
}
)",
             R"(graph f(%0 x: f32[n, 4]) {
  %1 = reshape(%0) {shape=[1, n, 4]} : f32[1, n, 4]
  %3 = exp(%0) : f32[n, 4]
  %5 = reshape(%0) {shape=[4 * n]} : f32[4 * n]
  return %3, %5
}
)");
}

TEST(SimplifyShapes, joins_transposes) {
  check_pass(passes::simplify_shapes, R"(graph f(%0 x: f32[n, m, 4]) {
  %1 = transpose(%0) {permutation=[1, 0, 2]} : f32[m, n, 4]
  %2 = transpose(%1) {permutation=[2, 0, 1]} : f32[4, m, n]
  %3 = transpose(%1) {permutation=[1, 0, 2]} : f32[n, m, 4]
  return %2, %3
}
)",
             R"(graph f(%0 x: f32[n, m, 4]) {
  %1 = transpose(%0) {permutation=[1, 0, 2]} : f32[m, n, 4]
  %4 = transpose(%0) {permutation=[2, 1, 0]} : f32[4, m, n]
  return %4, %0
}
)");
}

TEST(SimplifyShapes, leaves_broadcasting_to_elementwise_ops) {
  check_pass(passes::simplify_shapes, R"(graph f(%0 x: f32[n, 4], %1 y: f32[4]) {
  %2 = broadcast_to(%1) {shape=[1, 4]} : f32[1, 4]
  %3 = broadcast_to(%2) {shape=[n, 4]} : f32[n, 4]
  %4 = multiply(%3, %0) : f32[n, 4]
  return %4
}
)",
             R"(graph f(%0 x: f32[n, 4], %1 y: f32[4]) {
  %2 = broadcast_to(%1) {shape=[1, 4]} : f32[1, 4]
  %5 = broadcast_to(%1) {shape=[n, 4]} : f32[n, 4]
  %6 = multiply(%1, %0) : f32[n, 4]
  return %6
}
)");
}

TEST(SimplifyShapes, computes_before_it_repeats) {
  check_pass(passes::simplify_shapes, R"(graph f(%0 x: f32[n, 1]) {
  %1 = broadcast_to(%0) {shape=[n, 4]} : f32[n, 4]
  %2 = exp(%1) : f32[n, 4]
  return %2
}
)",
             R"(graph f(%0 x: f32[n, 1]) {
  %1 = broadcast_to(%0) {shape=[n, 4]} : f32[n, 4]
  %3 = exp(%0) : f32[n, 1]
  %4 = broadcast_to(%3) {shape=[n, 4]} : f32[n, 4]
  return %4
}
)");
}

TEST(SimplifyShapes, a_broadcast_that_gives_the_result_its_size_stays) {
  stays(R"(graph f(%0 x: f32[4], %1 y: f32[4]) {
  check add: n <= 7
  %2 = broadcast_to(%0) {shape=[n, 4]} : f32[n, 4]
  %3 = add(%2, %1) : f32[n, 4]
  return %3
}
)");
}

TEST(SimplifyShapes, what_is_the_same_everywhere_is_one_number) {
  check_pass(passes::simplify_shapes, R"(graph f(%0 x: f32[n], %1 s: f32[]) {
  %2 = size() {dim=n, dtype=f32} : f32[]
  %3 = divide(%1, %2) : f32[]
  %4 = reshape(%3) {shape=[1]} : f32[1]
  %5 = broadcast_to(%4) {shape=[n]} : f32[n]
  %6 = negative(%5) : f32[n]
  %7 = multiply(%6, %0) : f32[n]
  return %7
}
)",
             R"(graph f(%0 x: f32[n], %1 s: f32[]) {
  %2 = size() {dim=n, dtype=f32} : f32[]
  %3 = divide(%1, %2) : f32[]
  %4 = reshape(%3) {shape=[1]} : f32[1]
  %8 = full(%3) {shape=[n]} : f32[n]
  %9 = negative(%3) : f32[]
  %10 = full(%9) {shape=[n]} : f32[n]
  %11 = multiply(%9, %0) : f32[n]
  return %11
}
)");
}

TEST(SimplifyShapes, fills_stay_fills_under_another_shape) {
  check_pass(passes::simplify_shapes, R"(graph f(%0 x: f32[n, 4]) {
  %1 = constant() {dtype=f32, number=2, integer=0} : f32[]
  %2 = full(%1) {shape=[n, 4]} : f32[n, 4]
  %3 = transpose(%2) {permutation=[1, 0]} : f32[4, n]
  return %3
}
)",
             R"(graph f(%0 x: f32[n, 4]) {
  %1 = constant() {dtype=f32, number=2, integer=0} : f32[]
  %2 = full(%1) {shape=[n, 4]} : f32[n, 4]
  %4 = full(%1) {shape=[4, n]} : f32[4, n]
  return %4
}
)");
}

TEST(SimplifyShapes, reducing_axes_of_size_one_is_a_reshape) {
  check_pass(passes::simplify_shapes, R"(graph f(%0 x: f32[n, 1]) {
  %1 = max(%0) {axes=[1], keep_dims=false} : f32[n]
  %2 = sum(%0) {axes=[1], keep_dims=true} : f32[n, 1]
  %3 = sum(%0) {axes=[0], keep_dims=false} : f32[1]
  return %1, %2, %3
}
)",
             R"(graph f(%0 x: f32[n, 1]) {
  %4 = reshape(%0) {shape=[n]} : f32[n]
  %5 = constant() {dtype=f32, number=0, integer=0} : f32[]
  %6 = add(%0, %5) : f32[n, 1]
  %3 = sum(%0) {axes=[0], keep_dims=false} : f32[1]
  return %4, %6, %3
}
)");
}

TEST(SimplifyShapes, one_element_of_each_row_is_computed_alone) {
  check_pass(passes::simplify_shapes, R"(graph f(%0 x: f32[n, m], %1 row: f32[n, 1], %2 labels: i32[n]) {
  %3 = exp(%0) : f32[n, m]
  %4 = subtract(%3, %1) : f32[n, m]
  %5 = take(%4, %2) {axis=1, batch_dims=1, from_end=false} : f32[n]
  return %5
}
)",
             R"(graph f(%0 x: f32[n, m], %1 row: f32[n, 1], %2 labels: i32[n]) {
  %3 = exp(%0) : f32[n, m]
  %4 = subtract(%3, %1) : f32[n, m]
  %9 = take(%0, %2) {axis=1, batch_dims=1, from_end=false} : f32[n]
  %10 = exp(%9) : f32[n]
  %7 = reshape(%1) {shape=[n]} : f32[n]
  %8 = subtract(%10, %7) : f32[n]
  return %8
}
)");
}

TEST(SimplifyShapes, elements_are_not_computed_alone_where_operands_differ_along_rows) {
  const char* const bias = R"(graph f(%0 x: f32[n, m], %1 bias: f32[m], %2 labels: i32[n]) {
  %3 = add(%0, %1) : f32[n, m]
  %4 = take(%3, %2) {axis=1, batch_dims=1, from_end=false} : f32[n]
  return %4
}
)";
  check_pass(passes::simplify_shapes, bias, bias);
}

TEST(SimplifyShapes, passes_through_regions) {
  const auto text = [](const std::string& line, const std::string& used) {
    return "graph f(%0 a: f32[n, 4], %1 xs: f32[t]) {\n"
           "  %2 = scan(%0, %1) {carried=1, sequences=1, length=t, reverse=false, saved=0, active=0, rows=0, total=0} : f32[n, 4]\n"
           "    body(%0: f32[n, 4], %1: f32[]) {\n"
           "      %2 = reshape(%0) {shape=[1, n, 4]} : f32[1, n, 4]\n" +
           line + "      %4 = multiply(" + used + ", %1) : f32[n, 4]\n      return %4\n    }\n  return %2\n}\n";
  };
  check_pass(passes::simplify_shapes, text("      %3 = reshape(%2) {shape=[n, 4]} : f32[n, 4]\n", "%3"), text("", "%0"));
}

}  // namespace
}  // namespace anyshape::test
