// remove_dead_code: what no result needs is gone; inputs stay, because calls give them by position.
#include "passes/check_pass.h"
#include "passes/run_passes.h"

namespace anyshape::test {
namespace {

TEST(RemoveDeadCode, removes_chains_that_no_result_needs) {
  check_pass(passes::remove_dead_code, R"(graph f(%0 x: f32[n]) {
  %1 = exp(%0) : f32[n]
  %2 = tanh(%1) : f32[n]
  %3 = random::normal() {shape=[n], dtype=f32, stream=-1} : f32[n]
  %4 = add(%2, %3) : f32[n]
  return %1
}
)",
             R"(graph f(%0 x: f32[n]) {
  %1 = exp(%0) : f32[n]
  return %1
}
)");
}

TEST(RemoveDeadCode, keeps_inputs_and_checks) {
  const std::string text = R"(graph f(%0 x: f32[n], %1 unused: f32[m]) {
  check add: n == m
  %2 = exp(%0) : f32[n]
  return %2, %0
}
)";
  check_pass(passes::remove_dead_code, text, text);
}

TEST(RemoveDeadCode, a_graph_without_results_keeps_no_node) {
  check_pass(passes::remove_dead_code, "graph f(%0 x: f32[n]) {\n  %1 = exp(%0) : f32[n]\n  return\n}\n",
             "graph f(%0 x: f32[n]) {\n  return\n}\n");
}

TEST(RunPasses, duplicates_are_gone_at_the_end) {
  check_pass(passes::run_passes, R"(graph f(%0 x: f32[n]) {
  %1 = exp(%0) : f32[n]
  %2 = exp(%0) : f32[n]
  %3 = multiply(%1, %2) : f32[n]
  return %3, %2
}
)",
             R"(graph f(%0 x: f32[n]) {
  %1 = exp(%0) : f32[n]
  %3 = multiply(%1, %1) : f32[n]
  return %3, %1
}
)");
}

}  // namespace
}  // namespace anyshape::test
