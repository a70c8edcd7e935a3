// recompute: cheap values are made again at their late uses, from what waits in memory anyway; the arena gets smaller by them.
#include "lower/lower.h"
#include "passes/check_pass.h"
#include "passes/run_passes.h"
#include "shape/dim_node.h"
#include "shape/substitute.h"

namespace anyshape::test {
namespace {

// A layer with relu, what follows, and the beginning of its gradient.
const std::string relu_layer = R"(graph f(%0 x: f32[n, 64], %1 w: f32[64, 64]) {
  %2 = matmul(%0, %1) {transpose_a=false, transpose_b=false} : f32[n, 64]
  %3 = constant() {dtype=f32, number=0, integer=0} : f32[]
  %4 = less_equal(%2, %3) : b8[n, 64]
  %5 = where(%4, %3, %2) : f32[n, 64]
  %6 = matmul(%5, %1) {transpose_a=false, transpose_b=false} : f32[n, 64]
  %7 = matmul(%6, %1) {transpose_a=false, transpose_b=true} : f32[n, 64]
)";

std::string relu_step(const std::string& copy, const std::string& mask) {
  return relu_layer + R"(  %8 = matmul(%7, %1) {transpose_a=false, transpose_b=true} : f32[n, 64]
)" + copy +
         "  %9 = where(" + mask + R"(, %3, %8) : f32[n, 64]
  %10 = matmul(%0, %9) {transpose_a=true, transpose_b=false} : f32[64, 64]
  %11 = matmul(%5, %8) {transpose_a=true, transpose_b=false} : f32[64, 64]
  return %10, %11
}
)";
}

TEST(Recompute, relu_reads_its_mask_off_its_result) {
  check_pass(passes::recompute, relu_step("", "%4"), relu_step("  %12 = less_equal(%5, %3) : b8[n, 64]\n", "%12"));
}

// Two gradients that need the mask, one of them late.
std::string mask_twice(const std::string& copies, const std::string& mask) {
  return relu_layer + R"(  %8 = where(%4, %3, %7) : f32[n, 64]
  %9 = matmul(%7, %1) {transpose_a=false, transpose_b=true} : f32[n, 64]
)" + copies +
         "  %10 = where(" + mask + R"(, %3, %9) : f32[n, 64]
  %11 = sum_to(%8) {shape=[64]} : f32[64]
  %12 = sum_to(%10) {shape=[64]} : f32[64]
  return %11, %12
}
)";
}

TEST(Recompute, what_a_copy_reads_is_kept_for_it) {
  Decisions decisions;
  const auto graph = graph::parse(mask_twice("", "%4"), find_op);
  passes::recompute(*graph, decisions);  // once: it knows its copies only while it runs
  EXPECT_EQ(graph::print(*graph), mask_twice("  %13 = less_equal(%5, %3) : b8[n, 64]\n", "%13"));
  EXPECT_NO_THROW(graph::verify(*graph));
}

// Normalised values in the backward pass, where the difference to the mean and the deviation are needed, too.
const char* const normalised = R"(graph f(%0 d: f32[n, 64], %1 s: f32[n, 1], %2 w: f32[64, 64]) {
  %3 = multiply(%0, %1) : f32[n, 64]
  %4 = matmul(%3, %2) {transpose_a=false, transpose_b=false} : f32[n, 64]
  %5 = matmul(%4, %2) {transpose_a=false, transpose_b=true} : f32[n, 64]
  %6 = matmul(%5, %2) {transpose_a=false, transpose_b=true} : f32[n, 64]
  %7 = multiply(%6, %3) : f32[n, 64]
  %8 = sum_to(%7) {shape=[64]} : f32[64]
  return %8
}
)";

TEST(Recompute, a_cheap_value_is_made_again_from_what_is_kept) {
  check_pass(passes::recompute, normalised, R"(graph f(%0 d: f32[n, 64], %1 s: f32[n, 1], %2 w: f32[64, 64]) {
  %3 = multiply(%0, %1) : f32[n, 64]
  %4 = matmul(%3, %2) {transpose_a=false, transpose_b=false} : f32[n, 64]
  %5 = matmul(%4, %2) {transpose_a=false, transpose_b=true} : f32[n, 64]
  %6 = matmul(%5, %2) {transpose_a=false, transpose_b=true} : f32[n, 64]
  %9 = multiply(%0, %1) : f32[n, 64]
  %7 = multiply(%6, %9) : f32[n, 64]
  %8 = sum_to(%7) {shape=[64]} : f32[64]
  return %8
}
)");
}

TEST(Recompute, what_is_costly_or_would_keep_something_else_stays) {
  const std::string text = R"(graph f(%0 x: f32[n, 64], %1 w: f32[64, 64]) {
  %2 = matmul(%0, %1) {transpose_a=false, transpose_b=false} : f32[n, 64]
  %3 = negative(%2) : f32[n, 64]
  %4 = exp(%0) : f32[n, 64]
  %5 = matmul(%3, %1) {transpose_a=false, transpose_b=true} : f32[n, 64]
  %6 = matmul(%5, %4) {transpose_a=false, transpose_b=true} : f32[n, n]
  %7 = matmul(%6, %4) {transpose_a=false, transpose_b=false} : f32[n, 64]
  %8 = multiply(%7, %3) : f32[n, 64]
  %9 = multiply(%8, %4) : f32[n, 64]
  return %9
}
)";
  check_pass(passes::recompute, text, text);
  const auto graph = graph::parse(text, find_op);
  Decisions decisions;
  passes::recompute(*graph, decisions);
  ASSERT_EQ(decisions.size(), 1U);
  EXPECT_EQ(decisions[0].subject, "%3 negative");
  EXPECT_EQ(decisions[0].reason, "%2 matmul would have to be kept instead");
}

// At 1000 rows.
int64_t arena_bytes(const std::string& text, bool recomputes) {
  const auto graph = graph::parse(text, find_op);
  Decisions decisions;
  if (recomputes) passes::recompute(*graph, decisions);
  lower::Program program = lower::lower(*graph, decisions);
  lower::plan_memory(program, decisions);
  Dim bytes = 0;
  for (const Dim& slot : program.blocks[0].slots) bytes = bytes + slot;
  const Dim rows = graph->inputs()[0]->spec.shape[0];
  return substitute(bytes, {{as_symbol(rows)->id, 1000}}).value();
}

TEST(Recompute, the_arena_gets_smaller) {
  for (const std::string& text : {relu_step("", "%4"), std::string(normalised)}) {
    EXPECT_LT(arena_bytes(text, true), arena_bytes(text, false));
  }
}

}  // namespace
}  // namespace anyshape::test
