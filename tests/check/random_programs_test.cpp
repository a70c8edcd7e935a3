// Random programs, most with gradients: compiled and op by op agree at several sizes each. A failing one is reduced to the steps that matter.
// ANYSHAPE_RANDOM_PROGRAMS says how many of each family are tried.
#include "check/random_program.h"
#include "check/test_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace anyshape::check {
namespace {

constexpr uint64_t first_seed = 100;
constexpr int usual_programs = 30;  // of each family: about 15 seconds together

uint64_t programs_wanted() {
  const char* wanted = std::getenv("ANYSHAPE_RANDOM_PROGRAMS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : static_cast<uint64_t>(share_of(usual_programs, 1));
}

void check_programs(ProgramFamily family) {
  for (uint64_t seed = first_seed; seed < first_seed + programs_wanted() && !testing::Test::HasFailure(); ++seed) {
    const RandomProgram program = draw_program(family, seed);
    SCOPED_TRACE(to_string(program));
    if (find_difference(program).empty()) continue;
    const RandomProgram reduced =
        reduce_program(program, [](const RandomProgram& candidate) { return !find_difference(candidate).empty(); });
    ADD_FAILURE() << find_difference(reduced) << "\n  reduced to " << to_string(reduced);
  }
}

TEST(RandomPrograms, of_matrices_agree) { check_programs(ProgramFamily::Matrices); }
TEST(RandomPrograms, of_matrices_of_known_width_agree) { check_programs(ProgramFamily::MatricesOfKnownWidth); }
TEST(RandomPrograms, of_blocks_agree) { check_programs(ProgramFamily::Blocks); }

TEST(RandomPrograms, use_every_kind_of_step) {
  for (const ProgramFamily family : {ProgramFamily::Matrices, ProgramFamily::MatricesOfKnownWidth, ProgramFamily::Blocks}) {
    std::set<const StepKind*> used;
    for (uint64_t seed = first_seed; seed < first_seed + usual_programs; ++seed) {
      for (const ProgramStep& step : draw_program(family, seed).steps) used.insert(step.kind);
    }
    for (const StepKind* kind : step_kinds(family)) EXPECT_TRUE(used.contains(kind)) << kind->name;
  }
}

TEST(RandomPrograms, are_reduced_to_the_steps_that_matter) {
  const RandomProgram program = draw_program(ProgramFamily::Blocks, 1);
  ASSERT_GT(program.steps.size(), 2U);
  const uint64_t blamed = program.steps[1].seed;
  const RandomProgram reduced = reduce_program(program, [&](const RandomProgram& candidate) {
    return std::ranges::any_of(candidate.steps, [&](const ProgramStep& step) { return step.seed == blamed; });
  });
  ASSERT_EQ(reduced.steps.size(), 1U);
  EXPECT_EQ(reduced.steps[0].seed, blamed);
}

}  // namespace
}  // namespace anyshape::check
