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

Told told(const std::string& text, const std::vector<lower::Update>& updates = {}) {
  const auto graph = graph::parse(text, find_op);
  Told result;
  result.program = lower::lower(*graph, result.decisions, updates);
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
  ASSERT_EQ(lower::count_runs(dense.program), 1U);
  EXPECT_EQ(dense.program.launches[0].kernel->name, "matmul_tanh");
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
  EXPECT_EQ(lower::count_runs(dense.program), 1U);
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
  EXPECT_EQ(lower::count_runs(two.program), 2U);
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
  EXPECT_EQ(lower::count_runs(sum.program), 2U);
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
  EXPECT_EQ(lower::count_runs(waits.program), 2U);
  EXPECT_EQ(waits.about("%2 matmul"), "no: the loop of %4 add waits for what reads the product");
  EXPECT_EQ(waits.about("%3 matmul"), "yes: the loop of %4 add runs on its blocks, which nobody else reads");
}

TEST(Epilogue, the_product_may_be_seen_under_another_shape) {
  EXPECT_EQ(lower::count_runs(told(R"(graph f(%0 x: f32[n, 8], %1 w: f32[8, 12], %2 y: f32[3, 4]) {
  %3 = matmul(%0, %1) : f32[n, 12]
  %4 = reshape(%3) {shape=[n, 3, 4]} : f32[n, 3, 4]
  %5 = add(%4, %2) : f32[n, 3, 4]
  return %5
}
)")
                                  .program),
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
  EXPECT_EQ(lower::count_runs(heads.program), 2U);
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
  EXPECT_EQ(lower::count_runs(mask.program), 1U);
  EXPECT_EQ(mask.temporaries(), 1);
}

const std::string residual = R"(graph f(%0 x: f32[n, 8], %1 dy: f32[n, 16], %2 w: f32[8, 16]) {
  %3 = matmul(%0, %1) {transpose_a=true} : f32[8, 16]
  %4 = subtract(%2, %3) : f32[8, 16]
  return %4
}
)";

TEST(Epilogue, an_update_waits_until_nothing_fails_any_more) {
  const Told update = told(residual, {{.result = 0, .argument = 2}});
  EXPECT_EQ(lower::count_runs(update.program), 2U);
  EXPECT_EQ(update.about("%3 matmul"), "no: the loop of %4 subtract can be written over an argument once nothing fails any more");
}

TEST(Epilogue, an_update_under_another_shape_is_one_too) {
  const Told update = told(R"(graph f(%0 x: f32[n, 8], %1 dy: f32[n, 16], %2 w: f32[128]) {
  %3 = matmul(%0, %1) {transpose_a=true} : f32[8, 16]
  %4 = reshape(%2) {shape=[8, 16]} : f32[8, 16]
  %5 = subtract(%4, %3) : f32[8, 16]
  %6 = reshape(%5) {shape=[128]} : f32[128]
  return %6
}
)",
                           {{.result = 0, .argument = 2}});
  EXPECT_EQ(update.about("%3 matmul"), "no: the loop of %5 subtract can be written over an argument once nothing fails any more");
}

TEST(Epilogue, a_residual_that_is_a_result_and_no_update_follows_its_product) {
  const Told result = told(residual);
  EXPECT_EQ(lower::count_runs(result.program), 1U);
  EXPECT_EQ(result.temporaries(), 0);
  EXPECT_EQ(result.about("%3 matmul"), "yes: the loop of %4 subtract runs on its blocks, which nobody else reads");
}

TEST(Epilogue, what_replaces_a_variable_without_reading_it_follows_its_product) {
  const Told other = told(residual, {{.result = 0, .argument = 1}});
  EXPECT_EQ(lower::count_runs(other.program), 1U);
  EXPECT_EQ(other.about("%3 matmul"), "yes: the loop of %4 subtract runs on its blocks, which nobody else reads");
}

// The product reads in all its blocks what the loop would write: the carried value, which is given other memory for every time step.
TEST(Epilogue, loops_in_bodies_follow_their_products_and_write_elsewhere_than_these_read) {
  const Told body = told(R"(graph f(%0 h: f32[n, 8], %1 w: f32[8, 8], %2 xs: f32[t, n, 8]) {
  %3, %4 = scan(%0, %2, %1) {carried=1, sequences=1, length=t, reverse=false, saved=0, active=0, rows=0, total=0} : f32[n, 8], f32[t, n, 8]
    body(%0: f32[n, 8], %1: f32[n, 8], %2: f32[8, 8]) {
      %3 = matmul(%0, %2) : f32[n, 8]
      %4 = add(%3, %1) : f32[n, 8]
      %5 = tanh(%4) : f32[n, 8]
      %6 = add(%0, %5) : f32[n, 8]
      return %6, %6
    }
  return %3, %4
}
)",
                         {{.result = 0, .argument = 0}});
  EXPECT_EQ(body.about("%3 matmul"), "yes: the loop of %6 add runs on its blocks, which nobody else reads");
  ASSERT_EQ(lower::count_runs(body.program), 1U);
  const lower::Launch& launch = body.program.launches[0];
  const auto& scan = std::get<lower::ScanItem>(body.program.blocks[0].items.at(0));
  ASSERT_EQ(scan.carried.size(), 1U);
  const lower::ScanItem::Carried& carried = scan.carried[0];
  EXPECT_NE(carried.later.buffer, carried.later.other);
  EXPECT_NE(carried.last.buffer, carried.first.buffer);
  EXPECT_EQ(std::ranges::count(launch.buffers, carried.inside), 1);
  EXPECT_EQ(launch.access_of(body.program.library_calls.at(0).outputs.at(0)), loop::Access::InOut) << "the next value is written over it";
  EXPECT_NE(body.program.blocks.at(1).outputs.at(0).buffer, carried.inside);
  for (const loop::Buffer& buffer : launch.kernel->buffers) EXPECT_NE(buffer.access, loop::Access::Own) << buffer.name;
}

TEST(Epilogue, can_be_switched_off) {
  const ScopedWithout off("epilogue");
  EXPECT_EQ(lower::count_runs(lowered(R"(graph f(%0 x: f32[n, 8], %1 w: f32[8, 16]) {
  %2 = matmul(%0, %1) : f32[n, 16]
  %3 = tanh(%2) : f32[n, 16]
  return %3
}
)")),
            2U);
}

// The first product goes behind the third, with its other shape: the second one's loop, which reads that, comes after it.
TEST(Epilogue, a_loop_waits_for_another_products_shapes_that_went_with_it) {
  const ScopedWithout apart("merge");
  const Told both =
      told(R"(graph f(%0 x: f32[n, 8], %1 w: f32[8, 16], %2 y: f32[n, 4, 6], %3 v: f32[6, 4], %4 z: f32[n, 4, 5], %5 u: f32[5, 4]) {
  %6 = matmul(%0, %1) : f32[n, 16]
  %7 = reshape(%6) {shape=[n, 4, 4]} : f32[n, 4, 4]
  %8 = matmul(%2, %3) : f32[n, 4, 4]
  %9 = matmul(%4, %5) : f32[n, 4, 4]
  %10 = add(%7, %9) : f32[n, 4, 4]
  %11 = multiply(%8, %7) : f32[n, 4, 4]
  return %10, %11
}
)");
  EXPECT_EQ(lower::count_runs(both.program), 3U);
  EXPECT_EQ(both.about("%6 matmul"), "yes: the loop of %10 add runs on its blocks");
  EXPECT_EQ(both.about("%8 matmul"), "yes: the loop of %11 multiply runs on its blocks, which nobody else reads");
}

}  // namespace
}  // namespace anyshape::test
