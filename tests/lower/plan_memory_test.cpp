// The memory plan: temporaries share a slot where lifetimes do not meet and the sizes are known to fit.
#include "base/switches.h"
#include "lower/lowered.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace anyshape::test {
namespace {

// Loops behind products are kernels of their own here: there is more to place. Products have no copies of operands, which stand between.
class PlanMemory : public testing::Test {
  const ScopedWithout apart_{"epilogue"}, in_place_{"pack_operands"};
};

// Slots of the f32 temporaries, in the order of the program's buffers and numbered as they come: routines have small ones of their own beside.
std::vector<int> slots(const lower::Program& program) {
  std::vector<int> found;
  std::map<int, int> numbers;
  for (const lower::ProgramBuffer& buffer : program.buffers) {
    if (buffer.kind != lower::BufferKind::Temporary || buffer.dtype != Dtype::f32) continue;
    found.push_back(numbers.try_emplace(buffer.slot, static_cast<int>(numbers.size())).first->second);
  }
  return found;
}

// Whether one is written over the other by the launch that reads that one for the last time.
bool are_in_place(const lower::Program& program, const lower::ProgramBuffer& input, const lower::ProgramBuffer& output) {
  if (input.last_item != output.first_item) return false;
  const lower::Launch& launch =
      program.launches[static_cast<size_t>(std::get<int>(program.blocks[0].items[static_cast<size_t>(output.first_item)]))];
  const auto access = [&](const lower::ProgramBuffer& buffer) {
    const auto found = std::ranges::find(launch.buffers, static_cast<int>(&buffer - program.buffers.data()));
    return launch.kernel->buffers[static_cast<size_t>(found - launch.buffers.begin())].access;
  };
  return access(input) == loop::Access::Own && access(output) == loop::Access::Out && size_of(input.dtype) == size_of(output.dtype);
}

// No two temporaries that live at the same time have one slot, and every slot is large enough.
void expect_sound(const lower::Program& program) {
  for (const lower::ProgramBuffer& a : program.buffers) {
    if (a.kind != lower::BufferKind::Temporary) continue;
    ASSERT_GE(a.slot, 0);
    EXPECT_TRUE(proves_less_equal(a.count * size_of(a.dtype), program.blocks[0].slots[static_cast<size_t>(a.slot)]).value_or(false));
    for (const lower::ProgramBuffer& b : program.buffers) {
      if (&a == &b || b.kind != lower::BufferKind::Temporary || a.slot != b.slot) continue;
      EXPECT_TRUE(a.last_item < b.first_item || b.last_item < a.first_item || are_in_place(program, a, b) || are_in_place(program, b, a));
    }
  }
}

TEST_F(PlanMemory, a_chain_of_products_takes_turns_in_two_slots) {
  const Lowered program = lowered(R"(graph f(%0 x: f32[n, 4], %1 w: f32[4, 4]) {
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

TEST_F(PlanMemory, a_value_that_is_read_later_keeps_its_slot) {
  const Lowered program = lowered(R"(graph f(%0 x: f32[n, 4], %1 w: f32[4, 4]) {
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

TEST_F(PlanMemory, a_slot_grows_by_a_size_that_is_not_known_to_fit) {
  const Lowered program = lowered(R"(graph f(%0 x: f32[n, 4], %1 w: f32[4, m], %2 v: f32[m, k], %3 u: f32[k, 2]) {
  %4 = matmul(%0, %1) : f32[n, m]
  %5 = matmul(%4, %2) : f32[n, k]
  %6 = matmul(%5, %3) : f32[n, 2]
  %7 = matmul(%6, %3) {transpose_b=true} : f32[n, k]
  return %7
}
)");
  expect_sound(program);
  EXPECT_EQ(slots(program), (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(to_string(program.blocks[0].slots[0]), "max(4 * n * m, 8 * n)") << "n * m may be smaller than 2 * n";
}

TEST_F(PlanMemory, a_smaller_value_fits_the_slot_of_a_larger_one) {
  const Lowered program = lowered(R"(graph f(%0 x: f32[n, 4], %1 w: f32[4, 4], %2 v: f32[4, 2], %3 u: f32[2, 4]) {
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

// What stays where it is in every call, then what does so while it is at its least size, then what moves.
TEST_F(PlanMemory, slots_that_hardly_move_come_first) {
  const Lowered program = lowered(R"(graph f(%0 x: f32[n, 4], %1 w: f32[4, 4096], %2 v: f32[4096, 4], %3 u: f32[4, 8]) {
  %4 = matmul(%0, %1) : f32[n, 4096]
  %5 = matmul(%4, %2) : f32[n, 4]
  %6 = matmul(%5, %3) : f32[n, 8]
  %7 = matmul(%2, %3) : f32[4096, 8]
  %8 = matmul(%1, %7) : f32[4, 8]
  %9 = matmul(%5, %8) : f32[n, 8]
  %10 = add(%6, %9) : f32[n, 8]
  return %10
}
)");
  expect_sound(program);
  const auto is_constant = [](const Dim& bytes) { return bytes.is_constant(); };
  const std::vector<Dim>& slots = program.blocks[0].slots;
  EXPECT_TRUE(std::ranges::is_partitioned(slots, is_constant));
  EXPECT_TRUE(is_constant(slots.front()));
  EXPECT_FALSE(is_constant(slots.back()));
}

constexpr std::string_view softened = R"(graph f(%0 x: f32[n, 4], %1 w: f32[4, 4]) {
  %2 = matmul(%0, %1) : f32[n, 4]
  %3 = exp(%2) : f32[n, 4]
  %4 = matmul(%3, %1) : f32[n, 4]
  return %4
}
)";

TEST_F(PlanMemory, an_elementwise_result_is_written_over_an_input_that_is_not_read_again) {
  const Lowered program = lowered(std::string(softened));
  expect_sound(program);
  EXPECT_EQ(slots(program), (std::vector<int>{0, 0}));
  ASSERT_FALSE(program.decisions.empty());
  EXPECT_EQ(program.decisions.back().stage, "in_place");
  EXPECT_EQ(program.decisions.back().subject, "%3 exp over %2 matmul");
  EXPECT_TRUE(program.decisions.back().yes);
}

TEST_F(PlanMemory, writing_in_place_can_be_switched_off) {
  const ScopedWithout without("in_place");
  const Lowered program = lowered(std::string(softened));
  EXPECT_EQ(slots(program), (std::vector<int>{0, 1}));
  EXPECT_EQ(program.decisions.back().reason, "switched off");
}

TEST_F(PlanMemory, sharing_can_be_switched_off) {
  const ScopedWithout in_place("in_place"), reuse("reuse_memory");
  const Lowered program = lowered(R"(graph f(%0 x: f32[n, 4], %1 w: f32[4, 4]) {
  %2 = matmul(%0, %1) : f32[n, 4]
  %3 = matmul(%2, %1) : f32[n, 4]
  %4 = matmul(%3, %1) : f32[n, 4]
  %5 = matmul(%4, %1) : f32[n, 4]
  return %5
}
)");
  EXPECT_EQ(slots(program), (std::vector<int>{0, 1, 2}));
}

// The reason of the last refusal to write in place.
std::string refusal(const std::string& text) {
  const Lowered program = lowered(text);
  expect_sound(program);
  std::string reason;
  for (const Decision& each : program.decisions) {
    if (each.stage == "in_place" && !each.yes) reason = each.reason;
  }
  return reason;
}

TEST_F(PlanMemory, what_is_read_elsewhere_is_not_written_over) {
  EXPECT_EQ(refusal(R"(graph f(%0 x: f32[n, 4], %1 w: f32[4, 4]) {
  %2 = matmul(%0, %1) : f32[n, 4]
  %3 = exp(%2) : f32[n, 4]
  %4 = matmul(%3, %1) : f32[n, 4]
  %5 = matmul(%2, %1) : f32[n, 4]
  %6 = add(%4, %5) : f32[n, 4]
  return %6
}
)"),
            "it is read again");
  EXPECT_EQ(refusal(R"(graph f(%0 x: f32[n, 4], %1 w: f32[4, 4]) {
  %2 = matmul(%0, %1) : f32[n, 4]
  %3 = cast(%2) {dtype=f64} : f64[n, 4]
  %4 = matmul(%3, %3) {transpose_a=true} : f64[4, 4]
  return %4
}
)"),
            "the elements differ in size");
  // A row that every row reads, and elements at another index, are no input at the loop's own index.
  EXPECT_EQ(slots(lowered(R"(graph f(%0 x: f32[4, 4], %1 w: f32[4, 4]) {
  %2 = matmul(%0, %1) : f32[4, 4]
  %3 = transpose(%2) {permutation=[1, 0]} : f32[4, 4]
  %4 = add(%2, %3) : f32[4, 4]
  %5 = matmul(%4, %1) : f32[4, 4]
  return %5
}
)")),
            (std::vector<int>{0, 1}));
}

TEST_F(PlanMemory, results_and_arguments_have_no_slot) {
  const Lowered program = lowered("graph f(%0 x: f32[n]) {\n  %1 = exp(%0) : f32[n]\n  return %1, %0\n}\n");
  EXPECT_TRUE(program.blocks[0].slots.empty());
  ASSERT_EQ(program.results.size(), 2U);
  EXPECT_EQ(program.buffers[static_cast<size_t>(program.results[0].buffer)].kind, lower::BufferKind::Result);
  EXPECT_EQ(program.buffers[static_cast<size_t>(program.results[1].buffer)].kind, lower::BufferKind::Argument);
}

}  // namespace
}  // namespace anyshape::test
