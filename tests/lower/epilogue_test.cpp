// Products and what follows them element by element: which loops run on the blocks of a product, and which do not.
#include "base/switches.h"
#include "lower/lowered.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace anyshape::test {
namespace {

struct Told {
  lower::Program program;
  Decisions decisions;

  // What was decided about the product, as "yes: reason".
  std::string about(const std::string& product) const {
    const auto found = std::ranges::find_if(decisions, [&](const Decision& d) { return d.stage == "epilogue" && d.subject == product; });
    return found == decisions.end() ? "" : (found->yes ? "yes: " : "no: ") + found->reason;
  }
  int temporaries() const {  // f32 ones
    return static_cast<int>(std::ranges::count_if(program.buffers, [](const lower::ProgramBuffer& buffer) {
      return buffer.kind == lower::BufferKind::Temporary && buffer.dtype == Dtype::f32;
    }));
  }
};

Told told(const std::string& text) {
  const auto graph = graph::parse(text, find_op);
  Told result;
  result.program = lower::lower(*graph, result.decisions);
  lower::plan_memory(result.program, result.decisions);
  return result;
}

TEST(Epilogue, bias_and_activation_run_on_the_blocks_of_the_product_which_has_no_memory_of_its_own) {
  const Told dense = told(R"(graph f(%0 x: f32[batch, time, 8], %1 w: f32[8, 16], %2 bias: f32[16]) {
  %3 = matmul(%0, %1) : f32[batch, time, 16]
  %4 = add(%3, %2) : f32[batch, time, 16]
  %5 = tanh(%4) : f32[batch, time, 16]
  return %5
}
)");
  ASSERT_EQ(dense.program.steps.size(), 1U);
  EXPECT_EQ(dense.program.steps[0].kernel.name, "matmul_tanh");
  EXPECT_EQ(dense.temporaries(), 0);
  EXPECT_EQ(dense.about("%3 matmul"), "yes: the loop of %5 tanh runs on its blocks, which nobody else reads");
}

TEST(Epilogue, several_results_are_written_by_one_kernel) {
  const Told dense = told(R"(graph f(%0 x: f32[n, 8], %1 w: f32[8, 16], %2 bias: f32[16]) {
  %3 = matmul(%0, %1) : f32[n, 16]
  %4 = add(%3, %2) : f32[n, 16]
  %5 = tanh(%4) : f32[n, 16]
  return %5, %4
}
)");
  EXPECT_EQ(dense.program.steps.size(), 1U);
  EXPECT_EQ(dense.temporaries(), 0);
}

TEST(Epilogue, a_product_that_others_read_is_kept) {
  const Told two = told(R"(graph f(%0 x: f32[n, 8], %1 w: f32[8, 8]) {
  %2 = matmul(%0, %1) : f32[n, 8]
  %3 = tanh(%2) : f32[n, 8]
  %4 = matmul(%2, %1) : f32[n, 8]
  return %3, %4
}
)");
  EXPECT_EQ(two.program.steps.size(), 2U);
  EXPECT_EQ(two.temporaries(), 1);
  EXPECT_EQ(two.about("%2 matmul"), "yes: the loop of %3 tanh runs on its blocks");
  EXPECT_EQ(two.about("%4 matmul"), "no: no loop reads it at its own index");
}

TEST(Epilogue, a_sum_of_products_follows_the_last_of_them) {
  const Told sum = told(R"(graph f(%0 x: f32[n, 8], %1 w: f32[8, 4], %2 y: f32[n, 6], %3 v: f32[6, 4]) {
  %4 = matmul(%0, %1) : f32[n, 4]
  %5 = matmul(%2, %3) : f32[n, 4]
  %6 = add(%4, %5) : f32[n, 4]
  return %6
}
)");
  EXPECT_EQ(sum.program.steps.size(), 2U);
  EXPECT_EQ(sum.temporaries(), 1);
}

TEST(Epilogue, a_loop_that_waits_for_another_reader_of_the_product_stays_behind_it) {
  const Told waits = told(R"(graph f(%0 x: f32[n, 8], %1 w: f32[8, 8]) {
  %2 = matmul(%0, %1) : f32[n, 8]
  %3 = matmul(%2, %1) : f32[n, 8]
  %4 = add(%2, %3) : f32[n, 8]
  return %4
}
)");
  EXPECT_EQ(waits.program.steps.size(), 2U);
  EXPECT_EQ(waits.about("%2 matmul"), "no: the loop of %4 add waits for what reads the product");
  EXPECT_EQ(waits.about("%3 matmul"), "yes: the loop of %4 add runs on its blocks, which nobody else reads");
}

TEST(Epilogue, the_product_may_be_seen_under_another_shape) {
  EXPECT_EQ(told(R"(graph f(%0 x: f32[n, 8], %1 w: f32[8, 12], %2 y: f32[3, 4]) {
  %3 = matmul(%0, %1) : f32[n, 12]
  %4 = reshape(%3) {shape=[n, 3, 4]} : f32[n, 3, 4]
  %5 = add(%4, %2) : f32[n, 3, 4]
  return %5
}
)")
                .program.steps.size(),
            1U);
}

TEST(Epilogue, a_loop_along_other_rows_does_not_follow) {
  const Told heads = told(R"(graph f(%0 x: f32[n, 8], %1 w: f32[8, 12], %2 bias: f32[3, 1]) {
  %3 = matmul(%0, %1) : f32[n, 12]
  %4 = reshape(%3) {shape=[n, 3, 4]} : f32[n, 3, 4]
  %5 = add(%4, %2) : f32[n, 3, 4]
  return %5
}
)");
  EXPECT_EQ(heads.program.steps.size(), 2U);
  EXPECT_EQ(heads.about("%3 matmul"), "no: the loop of %5 add does not walk along rows of the product");
  const Told turned = told(R"(graph f(%0 x: f32[4, 8], %1 w: f32[8, 4]) {
  %2 = matmul(%0, %1) : f32[4, 4]
  %3 = transpose(%2) {permutation=[1, 0]} : f32[4, 4]
  %4 = add(%2, %3) : f32[4, 4]
  return %4
}
)");
  EXPECT_EQ(turned.about("%2 matmul"), "no: no loop reads it at its own index");
  const Told column = told(R"(graph f(%0 x: f32[n, 8], %1 w: f32[8, 1]) {
  %2 = matmul(%0, %1) : f32[n, 1]
  %3 = tanh(%2) : f32[n, 1]
  return %3
}
)");
  EXPECT_EQ(column.about("%2 matmul"), "no: its rows are single elements");
}

TEST(Epilogue, a_result_of_another_dtype_leaves_the_product_where_it_is) {
  const Told mask = told(R"(graph f(%0 x: f32[n, 8], %1 w: f32[8, 16]) {
  %2 = matmul(%0, %1) : f32[n, 16]
  %3 = cast(%2) {dtype=f16} : f16[n, 16]
  return %3
}
)");
  EXPECT_EQ(mask.program.steps.size(), 1U);
  EXPECT_EQ(mask.temporaries(), 1);
}

TEST(Epilogue, an_update_waits_until_nothing_fails_any_more) {
  const Told update = told(R"(graph f(%0 x: f32[n, 8], %1 dy: f32[n, 16], %2 w: f32[8, 16]) {
  %3 = matmul(%0, %1) {transpose_a=true} : f32[8, 16]
  %4 = subtract(%2, %3) : f32[8, 16]
  return %4
}
)");
  EXPECT_EQ(update.program.steps.size(), 2U);
  EXPECT_EQ(update.about("%3 matmul"), "no: the loop of %4 subtract can be written over an argument once nothing fails any more");
}

TEST(Epilogue, can_be_switched_off) {
  const ScopedWithout off("epilogue");
  EXPECT_EQ(lowered(R"(graph f(%0 x: f32[n, 8], %1 w: f32[8, 16]) {
  %2 = matmul(%0, %1) : f32[n, 16]
  %3 = tanh(%2) : f32[n, 16]
  return %3
}
)")
                .steps.size(),
            2U);
}

}  // namespace
}  // namespace anyshape::test
