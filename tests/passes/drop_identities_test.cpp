// drop_identities: what does not change a shape is gone, in regions too; what may change one stays.
#include "passes/check_pass.h"
#include "passes/run_passes.h"

namespace anyshape::test {
namespace {

TEST(DropIdentities, takes_values_from_before_ops_that_change_nothing) {
  check_pass(passes::drop_identities, R"(graph f(%0 x: f32[n, 3], %1 y: f32[n]) {
  %2 = sum_to(%0) {shape=[n, 3]} : f32[n, 3]
  %3 = reshape(%2) {shape=[n, 3]} : f32[n, 3]
  %4 = broadcast_to(%1) {shape=[n]} : f32[n]
  %5 = sum_to(%3) {shape=[3]} : f32[3]
  %6 = exp(%3) : f32[n, 3]
  return %6, %5, %4
}
)",
             R"(graph f(%0 x: f32[n, 3], %1 y: f32[n]) {
  %5 = sum_to(%0) {shape=[3]} : f32[3]
  %6 = exp(%0) : f32[n, 3]
  return %6, %5, %1
}
)");
}

TEST(DropIdentities, takes_all_of_a_tensor_as_it_is) {
  check_pass(passes::drop_identities, R"(graph f(%0 x: f32[n, 3], %1 v: f32[]) {
  %2 = slice(%0) {begins=[0, 0], sizes=[n, 3], steps=[1, 1]} : f32[n, 3]
  %3 = pad(%2, %1) {begins=[0, 0], steps=[1, 1], shape=[n, 3]} : f32[n, 3]
  %4 = concat(%3) {axis=1} : f32[n, 3]
  %5 = transpose(%4) {permutation=[0, 1]} : f32[n, 3]
  %6 = cast(%5) {dtype=f32} : f32[n, 3]
  %7 = stop_gradient(%6) : f32[n, 3]
  %8 = exp(%7) : f32[n, 3]
  return %8
}
)",
             R"(graph f(%0 x: f32[n, 3], %1 v: f32[]) {
  %8 = exp(%0) : f32[n, 3]
  return %8
}
)");
}

TEST(DropIdentities, what_moves_elements_stays) {
  const std::string text = R"(graph f(%0 x: f32[3, 3]) {
  %1 = slice(%0) {begins=[2, 0], sizes=[3, 3], steps=[-1, 1]} : f32[3, 3]
  %2 = transpose(%0) {permutation=[1, 0]} : f32[3, 3]
  return %1, %2
}
)";
  check_pass(passes::drop_identities, text, text);
}

TEST(DropIdentities, says_what_it_dropped) {
  const auto graph = graph::parse(R"(graph f(%0 x: f32[n, 3]) {
  %2 = reshape(%0) {shape=[n, 3]} : f32[n, 3]
  return %2
}
)",
                                  find_op);
  Decisions decisions;
  passes::drop_identities(*graph, decisions);
  ASSERT_EQ(decisions.size(), 1U);
  EXPECT_EQ(decisions[0].stage, "drop_identities");
  EXPECT_EQ(decisions[0].subject, "%2 reshape");
  EXPECT_EQ(decisions[0].reason, "it gives what it is given");
}

}  // namespace
}  // namespace anyshape::test
