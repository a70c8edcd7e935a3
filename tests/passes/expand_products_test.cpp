// expand_products: products of vectors and of tiny matrices are multiplications and sums; the others stay, with a reason where they come near.
#include "passes/check_pass.h"
#include "passes/run_passes.h"

namespace anyshape::test {
namespace {

TEST(ExpandProducts, a_product_of_depth_one_is_a_multiplication) {
  check_pass(passes::expand_products, R"(graph f(%0 dy: f32[batch, 1], %1 w: f32[128, 1]) {
  %2 = matmul(%0, %1) {transpose_a=false, transpose_b=true} : f32[batch, 128]
  return %2
}
)",
             R"(graph f(%0 dy: f32[batch, 1], %1 w: f32[128, 1]) {
  %3 = reshape(%1) {shape=[1, 128]} : f32[1, 128]
  %4 = multiply(%0, %3) : f32[batch, 128]
  %5 = constant() {dtype=f32, number=0, integer=0} : f32[]
  %6 = add(%4, %5) : f32[batch, 128]
  return %6
}
)");
}

TEST(ExpandProducts, one_column_is_a_sum_along_rows) {
  check_pass(passes::expand_products, R"(graph f(%0 x: f32[batch, 128], %1 w: f32[128, 1]) {
  %2 = matmul(%0, %1) {transpose_a=false, transpose_b=false} : f32[batch, 1]
  return %2
}
)",
             R"(graph f(%0 x: f32[batch, 128], %1 w: f32[128, 1]) {
  %3 = reshape(%1) {shape=[1, 128]} : f32[1, 128]
  %4 = multiply(%0, %3) : f32[batch, 128]
  %5 = sum(%4) {axes=[1], keep_dims=true} : f32[batch, 1]
  return %5
}
)");
}

TEST(ExpandProducts, one_column_of_a_transposed_matrix_is_a_sum_of_rows) {
  check_pass(passes::expand_products, R"(graph f(%0 x: f32[batch, 128], %1 dy: f32[batch, 1]) {
  %2 = matmul(%0, %1) {transpose_a=true, transpose_b=false} : f32[128, 1]
  return %2
}
)",
             R"(graph f(%0 x: f32[batch, 128], %1 dy: f32[batch, 1]) {
  %3 = multiply(%0, %1) : f32[batch, 128]
  %4 = sum(%3) {axes=[0], keep_dims=false} : f32[128]
  %5 = reshape(%4) {shape=[128, 1]} : f32[128, 1]
  return %5
}
)");
}

TEST(ExpandProducts, one_row_of_each_entry_of_a_batch) {
  check_pass(passes::expand_products, R"(graph f(%0 x: f32[batch, 1, k], %1 w: f32[batch, k, n], %2 v: f32[batch, n, k]) {
  %3 = matmul(%0, %1) {transpose_a=false, transpose_b=false} : f32[batch, 1, n]
  %4 = matmul(%0, %2) {transpose_a=false, transpose_b=true} : f32[batch, 1, n]
  return %3, %4
}
)",
             R"(graph f(%0 x: f32[batch, 1, k], %1 w: f32[batch, k, n], %2 v: f32[batch, n, k]) {
  %5 = reshape(%0) {shape=[batch, k, 1]} : f32[batch, k, 1]
  %6 = multiply(%1, %5) : f32[batch, k, n]
  %7 = sum(%6) {axes=[1], keep_dims=true} : f32[batch, 1, n]
  %8 = multiply(%2, %0) : f32[batch, n, k]
  %9 = sum(%8) {axes=[2], keep_dims=false} : f32[batch, n]
  %10 = reshape(%9) {shape=[batch, 1, n]} : f32[batch, 1, n]
  return %7, %10
}
)");
}

TEST(ExpandProducts, a_vector_times_a_vector_is_summed_along_both) {
  check_pass(passes::expand_products, R"(graph f(%0 x: f32[k, 1], %1 y: f32[k, 1]) {
  %2 = matmul(%0, %1) {transpose_a=true, transpose_b=false} : f32[1, 1]
  return %2
}
)",
             R"(graph f(%0 x: f32[k, 1], %1 y: f32[k, 1]) {
  %3 = reshape(%0) {shape=[1, k]} : f32[1, k]
  %4 = reshape(%1) {shape=[1, k]} : f32[1, k]
  %5 = multiply(%3, %4) : f32[1, k]
  %6 = sum(%5) {axes=[1], keep_dims=true} : f32[1, 1]
  return %6
}
)");
}

TEST(ExpandProducts, batches_of_tiny_matrices_get_an_axis_for_their_terms) {
  check_pass(passes::expand_products, R"(graph f(%0 x: f32[batch, 2, 3], %1 y: f32[batch, 3, 4], %2 z: f32[batch, 2, 4]) {
  %3 = matmul(%0, %1) {transpose_a=false, transpose_b=false} : f32[batch, 2, 4]
  %4 = matmul(%0, %2) {transpose_a=true, transpose_b=false} : f32[batch, 3, 4]
  %5 = matmul(%2, %1) {transpose_a=false, transpose_b=true} : f32[batch, 2, 3]
  %6 = matmul(%1, %2) {transpose_a=false, transpose_b=true} : f32[batch, 3, 2]
  return %3, %4, %5, %6
}
)",
             R"(graph f(%0 x: f32[batch, 2, 3], %1 y: f32[batch, 3, 4], %2 z: f32[batch, 2, 4]) {
  %7 = reshape(%0) {shape=[batch, 2, 3, 1]} : f32[batch, 2, 3, 1]
  %8 = reshape(%1) {shape=[batch, 1, 3, 4]} : f32[batch, 1, 3, 4]
  %9 = multiply(%7, %8) : f32[batch, 2, 3, 4]
  %10 = sum(%9) {axes=[2], keep_dims=false} : f32[batch, 2, 4]
  %11 = reshape(%0) {shape=[batch, 2, 3, 1]} : f32[batch, 2, 3, 1]
  %12 = reshape(%2) {shape=[batch, 2, 1, 4]} : f32[batch, 2, 1, 4]
  %13 = multiply(%11, %12) : f32[batch, 2, 3, 4]
  %14 = sum(%13) {axes=[1], keep_dims=false} : f32[batch, 3, 4]
  %15 = reshape(%2) {shape=[batch, 2, 1, 4]} : f32[batch, 2, 1, 4]
  %16 = reshape(%1) {shape=[batch, 1, 3, 4]} : f32[batch, 1, 3, 4]
  %17 = multiply(%15, %16) : f32[batch, 2, 3, 4]
  %18 = sum(%17) {axes=[3], keep_dims=false} : f32[batch, 2, 3]
  %19 = reshape(%1) {shape=[batch, 3, 1, 4]} : f32[batch, 3, 1, 4]
  %20 = reshape(%2) {shape=[batch, 1, 2, 4]} : f32[batch, 1, 2, 4]
  %21 = multiply(%19, %20) : f32[batch, 3, 2, 4]
  %22 = sum(%21) {axes=[3], keep_dims=false} : f32[batch, 3, 2]
  return %10, %14, %18, %22
}
)");
}

TEST(ExpandProducts, no_order_of_axes_fits_two_transposed_matrices) {
  check_pass(passes::expand_products, R"(graph f(%0 x: f32[batch, 3, 2], %1 y: f32[batch, 4, 3]) {
  %2 = matmul(%0, %1) {transpose_a=true, transpose_b=true} : f32[batch, 2, 4]
  return %2
}
)",
             R"(graph f(%0 x: f32[batch, 3, 2], %1 y: f32[batch, 4, 3]) {
  %3 = reshape(%0) {shape=[batch, 1, 3, 2]} : f32[batch, 1, 3, 2]
  %4 = reshape(%1) {shape=[batch, 4, 3, 1]} : f32[batch, 4, 3, 1]
  %5 = multiply(%3, %4) : f32[batch, 4, 3, 2]
  %6 = sum(%5) {axes=[2], keep_dims=false} : f32[batch, 4, 2]
  %7 = transpose(%6) {permutation=[0, 2, 1]} : f32[batch, 2, 4]
  return %7
}
)");
}

TEST(ExpandProducts, products_in_loops_are_seen) {
  check_pass(passes::expand_products, R"(graph f(%0 a: f32[n, 1], %1 xs: f32[t, 1, 1]) {
  %2 = scan(%0, %1) {carried=1, sequences=1, length=t, reverse=false, saved=0, active=0, rows=0, total=0} : f32[n, 1]
    body(%0: f32[n, 1], %1: f32[1, 1]) {
      %2 = matmul(%0, %0) {transpose_a=false, transpose_b=true} : f32[n, n]
      %3 = matmul(%2, %0) {transpose_a=false, transpose_b=false} : f32[n, 1]
      return %3
    }
  return %2
}
)",
             R"(graph f(%0 a: f32[n, 1], %1 xs: f32[t, 1, 1]) {
  %2 = scan(%0, %1) {carried=1, sequences=1, length=t, reverse=false, saved=0, active=0, rows=0, total=0} : f32[n, 1]
    body(%0: f32[n, 1], %1: f32[1, 1]) {
      %4 = reshape(%0) {shape=[1, n]} : f32[1, n]
      %5 = multiply(%0, %4) : f32[n, n]
      %6 = constant() {dtype=f32, number=0, integer=0} : f32[]
      %7 = add(%5, %6) : f32[n, n]
      %8 = reshape(%0) {shape=[1, n]} : f32[1, n]
      %9 = multiply(%7, %8) : f32[n, n]
      %10 = sum(%9) {axes=[1], keep_dims=true} : f32[n, 1]
      return %10
    }
  return %2
}
)");
}

// A term of a sum would be rounded by itself: halves come to products as f32, and no graph says otherwise.
TEST(ExpandProducts, halves_are_no_operands_of_products) {
  const std::string text = R"(graph f(%0 x: bf16[batch, 128], %1 w: bf16[128, 1]) {
  %2 = matmul(%0, %1) {transpose_a=false, transpose_b=false} : bf16[batch, 1]
  return %2
}
)";
  try {
    graph::parse(text, find_op);
    FAIL() << "a product of halves was read";
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("matmul: input 0 is bf16; expected it cast to f32"), std::string::npos) << error.what();
  }
}

// The text stays, and the one decision says why.
void stays(const std::string& text, const std::string& reason) {
  check_pass(passes::expand_products, text, text);
  Decisions decisions;
  passes::expand_products(*graph::parse(text, find_op), decisions);
  ASSERT_EQ(decisions.size(), reason.empty() ? 0U : 1U) << text;
  if (reason.empty()) return;
  EXPECT_EQ(decisions[0].stage, "expand_products");
  EXPECT_FALSE(decisions[0].yes);
  EXPECT_EQ(decisions[0].reason, reason);
}

std::string product(const std::string& a, const std::string& b, const std::string& result, bool transpose_a = false,
                    bool transpose_b = false) {
  const auto text = [](bool flag) { return std::string(flag ? "true" : "false"); };
  return "graph f(%0 a: f32" + a + ", %1 b: f32" + b + ") {\n  %2 = matmul(%0, %1) {transpose_a=" + text(transpose_a) +
         ", transpose_b=" + text(transpose_b) + "} : f32" + result + "\n  return %2\n}\n";
}

TEST(ExpandProducts, products_of_matrices_stay) {
  stays(product("[m, k]", "[k, n]", "[m, n]"), "");
  stays(product("[batch, 4, 4]", "[batch, 4, 64]", "[batch, 4, 64]"), "");
  stays(product("[batch, 8, 32]", "[batch, 8, 32]", "[batch, 8, 8]", false, true), "");
  stays(product("[batch, 2, 129]", "[batch, 2, 129]", "[batch, 2, 2]", false, true), "");
  stays(product("[batch, 1, k]", "[k, n]", "[batch, 1, n]"), "one matrix may meet many vectors, as in a product of matrices");
  stays(product("[m, k]", "[batch, k, 1]", "[batch, m, 1]"), "one matrix may meet many vectors, as in a product of matrices");
  stays(product("[batch, 3, 3]", "[3, 3]", "[batch, 3, 3]"), "all matrices meet one, as in a product of many rows");
}

TEST(ExpandProducts, what_one_call_of_the_library_does_faster_stays) {
  stays(product("[batch, 1]", "[1, 31]", "[batch, 31]"), "its rows are short");
  stays(product("[batch, 63]", "[63, 1]", "[batch, 1]"), "the rows to be summed are short");
  stays(product("[batch, 8193]", "[8193, 1]", "[batch, 1]"), "the rows to be summed are long");
  stays(product("[batch, 2049]", "[batch, 1]", "[2049, 1]", true), "the rows to be added up are wide");
  stays(product("[1, 2, 1, 2, 1, 2, 2, 2]", "[1, 2, 1, 2, 1, 2, 2, 2]", "[1, 2, 1, 2, 1, 2, 2, 2]"), "no axis is left for its terms");
}

TEST(ExpandProducts, a_refusal_is_told_once_however_often_the_graph_is_walked) {
  const auto graph = graph::parse(R"(graph f(%0 x: f32[batch, 128], %1 w: f32[128, 1], %2 dy: f32[batch, 1], %3 v: f32[1, 31]) {
  %4 = matmul(%2, %3) {transpose_a=false, transpose_b=false} : f32[batch, 31]
  %5 = matmul(%0, %1) {transpose_a=false, transpose_b=false} : f32[batch, 1]
  return %4, %5
}
)",
                                  find_op);
  Decisions decisions;
  passes::expand_products(*graph, decisions);
  ASSERT_EQ(decisions.size(), 2U);
  EXPECT_TRUE(decisions[0].yes);
  EXPECT_EQ(decisions[0].subject, "%5 matmul");
  EXPECT_FALSE(decisions[1].yes);
  EXPECT_EQ(decisions[1].subject, "%4 matmul");
  EXPECT_EQ(decisions[1].reason, "its rows are short");
}

}  // namespace
}  // namespace anyshape::test
