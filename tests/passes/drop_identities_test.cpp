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
  EXPECT_EQ(decisions[0].reason, "the shape stays as it is");
}

}  // namespace
}  // namespace anyshape::test
