// absorb_transposes: a transpose of matrices beside a product is its flag; other transposes stay.
#include "passes/check_pass.h"
#include "passes/run_passes.h"

namespace anyshape::test {
namespace {

TEST(AbsorbTransposes, a_product_reads_matrices_as_they_stand) {
  check_pass(passes::absorb_transposes, R"(graph f(%0 a: f32[b, k, m], %1 w: f32[n, k]) {
  %2 = transpose(%0) {permutation=[0, 2, 1]} : f32[b, m, k]
  %3 = transpose(%1) {permutation=[1, 0]} : f32[k, n]
  %4 = matmul(%2, %3) {transpose_a=false, transpose_b=false} : f32[b, m, n]
  return %4
}
)",
             R"(graph f(%0 a: f32[b, k, m], %1 w: f32[n, k]) {
  %2 = transpose(%0) {permutation=[0, 2, 1]} : f32[b, m, k]
  %3 = transpose(%1) {permutation=[1, 0]} : f32[k, n]
  %5 = matmul(%0, %1) {transpose_a=true, transpose_b=true} : f32[b, m, n]
  return %5
}
)");
}

TEST(AbsorbTransposes, a_transposed_product_swaps_its_operands) {
  check_pass(passes::absorb_transposes, R"(graph f(%0 a: f32[m, k], %1 w: f32[n, k]) {
  %2 = matmul(%0, %1) {transpose_a=false, transpose_b=true} : f32[m, n]
  %3 = transpose(%2) {permutation=[1, 0]} : f32[n, m]
  return %3
}
)",
             R"(graph f(%0 a: f32[m, k], %1 w: f32[n, k]) {
  %2 = matmul(%0, %1) {transpose_a=false, transpose_b=true} : f32[m, n]
  %4 = matmul(%1, %0) {transpose_a=false, transpose_b=true} : f32[n, m]
  return %4
}
)");
}

TEST(AbsorbTransposes, other_axes_and_products_that_are_needed_stay) {
  const std::string text = R"(graph f(%0 a: f32[m, b, k], %1 w: f32[k, n]) {
  %2 = transpose(%0) {permutation=[1, 0, 2]} : f32[b, m, k]
  %3 = matmul(%2, %1) {transpose_a=false, transpose_b=false} : f32[b, m, n]
  %4 = transpose(%3) {permutation=[0, 2, 1]} : f32[b, n, m]
  return %3, %4
}
)";
  check_pass(passes::absorb_transposes, text, text);
}

}  // namespace
}  // namespace anyshape::test
