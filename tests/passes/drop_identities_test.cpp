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

}  // namespace
}  // namespace anyshape::test
