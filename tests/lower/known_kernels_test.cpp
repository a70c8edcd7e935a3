// Kernels of a program: equal ones are one, others stay apart.
#include "lower/lowered.h"

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

TEST(KnownKernels, equal_kernels_of_a_program_are_one) {
  const Lowered program = lowered(R"(graph f(%0 x: f32[n], %1 y: f32[m], %2 z: f32[m]) {
  %3 = exp(%0) : f32[n]
  %4 = exp(%1) : f32[m]
  %5 = tanh(%2) : f32[m]
  return %3, %4, %5
}
)");
  ASSERT_EQ(program.launches.size(), 3U);
  EXPECT_EQ(program.launches[0].kernel, program.launches[1].kernel);
  EXPECT_NE(program.launches[0].kernel, program.launches[2].kernel);
  EXPECT_NE(program.launches[0].buffers, program.launches[1].buffers);
}

}  // namespace
}  // namespace anyshape::test
