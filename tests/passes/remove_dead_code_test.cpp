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

// The second carried value feeds itself only, the second sequence and the capture nothing that is asked for.
TEST(RemoveDeadCode, keeps_of_a_loop_what_its_needed_results_need) {
  check_pass(passes::remove_dead_code, R"(graph f(%0 h: f32[n], %1 c: f32[n], %2 xs: f32[t, n], %3 ys: f32[t, n], %4 w: f32[n]) {
  %5, %6, %7, %8 = scan(%0, %1, %2, %3, %4) {carried=2, sequences=2, length=t, reverse=false, saved=0, active=0, rows=0, total=0} : f32[n], f32[n], f32[t, n], f32[t, n]
    body(%0: f32[n], %1: f32[n], %2: f32[n], %3: f32[n], %4: f32[n]) {
      %5 = add(%0, %2) : f32[n]
      %6 = multiply(%1, %4) : f32[n]
      %7 = add(%3, %6) : f32[n]
      %8 = exp(%0) : f32[n]
      return %5, %6, %7, %8
    }
  %9 = exp(%7) : f32[t, n]
  return %8
}
)",
             R"(graph f(%0 h: f32[n], %1 c: f32[n], %2 xs: f32[t, n], %3 ys: f32[t, n], %4 w: f32[n]) {
  %5, %8 = scan(%0, %2) {carried=1, sequences=1, length=t, reverse=false, saved=0, active=0, rows=0, total=0} : f32[n], f32[t, n]
    body(%0: f32[n], %2: f32[n]) {
      %5 = add(%0, %2) : f32[n]
      %8 = exp(%0) : f32[n]
      return %5, %8
    }
  return %8
}
)");
}

TEST(RunPasses, duplicates_are_gone_at_the_end) {
  check_pass([](graph::Graph& graph, Decisions& decisions) { passes::run_passes(graph, decisions); }, R"(graph f(%0 x: f32[n]) {
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
