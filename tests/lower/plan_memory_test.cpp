// The memory plan: temporaries share a slot where lifetimes do not meet and the sizes are known to fit.
#include "lower/lowered.h"

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

// Slots of the temporaries, in the order of the program's buffers.
std::vector<int> slots(const lower::Program& program) {
  std::vector<int> found;
  for (const lower::ProgramBuffer& buffer : program.buffers) {
    if (buffer.kind == lower::BufferKind::Temporary) found.push_back(buffer.slot);
  }
  return found;
}

// No two temporaries that live at the same time have one slot, and every slot is large enough.
void expect_sound(const lower::Program& program) {
  for (const lower::ProgramBuffer& a : program.buffers) {
    if (a.kind != lower::BufferKind::Temporary) continue;
    ASSERT_GE(a.slot, 0);
    EXPECT_TRUE(proves_less_equal(a.count * size_of(a.dtype), program.blocks[0].slots[static_cast<size_t>(a.slot)]).value_or(false));
    for (const lower::ProgramBuffer& b : program.buffers) {
      if (&a == &b || b.kind != lower::BufferKind::Temporary || a.slot != b.slot) continue;
      EXPECT_TRUE(a.last_step < b.first_step || b.last_step < a.first_step);
    }
  }
}

TEST(PlanMemory, a_chain_of_products_takes_turns_in_two_slots) {
  const lower::Program program = lowered(R"(graph f(%0 x: f32[n, 4], %1 w: f32[4, 4]) {
  %2 = matmul(%0, %1) : f32[n, 4]
  %3 = matmul(%2, %1) : f32[n, 4]
  %4 = matmul(%3, %1) : f32[n, 4]
  %5 = matmul(%4, %1) : f32[n, 4]
  %6 = matmul(%5, %1) : f32[n, 4]
  return %6
}
)");
  expect_sound(program);
  EXPECT_EQ(slots(program), (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(to_string(program.blocks[0].slots[0]), "16 * n");
}

TEST(PlanMemory, a_value_that_is_read_later_keeps_its_slot) {
  const lower::Program program = lowered(R"(graph f(%0 x: f32[n, 4], %1 w: f32[4, 4]) {
  %2 = matmul(%0, %1) : f32[n, 4]
  %3 = matmul(%2, %1) : f32[n, 4]
  %4 = matmul(%3, %1) : f32[n, 4]
  %5 = add(%2, %4) : f32[n, 4]
  return %5
}
)");
  expect_sound(program);
  EXPECT_EQ(slots(program), (std::vector<int>{0, 1, 2}));
}

TEST(PlanMemory, sizes_that_are_not_known_to_fit_share_nothing) {
  const lower::Program program = lowered(R"(graph f(%0 x: f32[n, 4], %1 w: f32[4, m], %2 v: f32[m, k], %3 u: f32[k, 2]) {
  %4 = matmul(%0, %1) : f32[n, m]
  %5 = matmul(%4, %2) : f32[n, k]
  %6 = matmul(%5, %3) : f32[n, 2]
  %7 = matmul(%6, %3) {transpose_b=true} : f32[n, k]
  return %7
}
)");
  expect_sound(program);
  EXPECT_EQ(slots(program), (std::vector<int>{0, 1, 2})) << "n * m may be smaller than 2 * n";
}

TEST(PlanMemory, a_smaller_value_fits_the_slot_of_a_larger_one) {
  const lower::Program program = lowered(R"(graph f(%0 x: f32[n, 4], %1 w: f32[4, 4], %2 v: f32[4, 2], %3 u: f32[2, 4]) {
  %4 = matmul(%0, %1) : f32[n, 4]
  %5 = matmul(%4, %1) : f32[n, 4]
  %6 = matmul(%5, %2) : f32[n, 2]
  %7 = matmul(%6, %3) : f32[n, 4]
  return %7
}
)");
  expect_sound(program);
  EXPECT_EQ(slots(program), (std::vector<int>{0, 1, 0}));
}

TEST(PlanMemory, results_and_arguments_have_no_slot) {
  const lower::Program program = lowered("graph f(%0 x: f32[n]) {\n  %1 = exp(%0) : f32[n]\n  return %1, %0\n}\n");
  EXPECT_TRUE(program.blocks[0].slots.empty());
  ASSERT_EQ(program.results.size(), 2U);
  EXPECT_EQ(program.buffers[static_cast<size_t>(program.results[0].buffer)].kind, lower::BufferKind::Result);
  EXPECT_EQ(program.buffers[static_cast<size_t>(program.results[1].buffer)].kind, lower::BufferKind::Argument);
}

}  // namespace
}  // namespace anyshape::test
