// sink_constants: what a region captures and everybody knows is made inside it.
#include "passes/check_pass.h"
#include "passes/run_passes.h"

namespace anyshape::test {
namespace {

TEST(SinkConstants, a_loop_makes_its_own_constants) {
  check_pass(passes::sink_constants, R"(graph f(%0 h: f32[n], %1 xs: f32[t, n], %2 w: f32[n]) {
  %3 = constant() {dtype=f32, number=0, integer=0} : f32[]
  %4 = full(%3) {shape=[n]} : f32[n]
  %5 = scan(%0, %1, %4, %2, %3) {carried=1, sequences=1, length=t, reverse=false, saved=0, active=0, rows=0, total=0} : f32[n]
    body(%0: f32[n], %1: f32[n], %2: f32[n], %3: f32[n], %4: f32[]) {
      %5 = add(%0, %1) : f32[n]
      %6 = maximum(%5, %2) : f32[n]
      %7 = multiply(%6, %3) : f32[n]
      %8 = add(%7, %4) : f32[n]
      return %8
    }
  return %5
}
)",
             R"(graph f(%0 h: f32[n], %1 xs: f32[t, n], %2 w: f32[n]) {
  %3 = constant() {dtype=f32, number=0, integer=0} : f32[]
  %4 = full(%3) {shape=[n]} : f32[n]
  %5 = scan(%0, %1, %2) {carried=1, sequences=1, length=t, reverse=false, saved=0, active=0, rows=0, total=0} : f32[n]
    body(%0: f32[n], %1: f32[n], %3: f32[n]) {
      %9 = constant() {dtype=f32, number=0, integer=0} : f32[]
      %10 = constant() {dtype=f32, number=0, integer=0} : f32[]
      %11 = full(%10) {shape=[n]} : f32[n]
      %5 = add(%0, %1) : f32[n]
      %6 = maximum(%5, %11) : f32[n]
      %7 = multiply(%6, %3) : f32[n]
      %8 = add(%7, %9) : f32[n]
      return %8
    }
  return %5
}
)");
}

TEST(SinkConstants, branches_and_conditions_do_too) {
  check_pass(passes::sink_constants, R"(graph f(%0 c: b8[], %1 x: f32[n]) {
  %2 = constant() {dtype=f32, number=2, integer=0} : f32[]
  %3 = size() {dim=n, dtype=f32} : f32[]
  %4 = cond(%0, %1, %2, %3, %1) {then_inputs=2} : f32[n]
    then(%0: f32[n], %1: f32[]) {
      %2 = multiply(%0, %1) : f32[n]
      return %2
    }
    else(%0: f32[], %1: f32[n]) {
      %2 = add(%1, %0) : f32[n]
      return %2
    }
  return %4
}
)",
             R"(graph f(%0 c: b8[], %1 x: f32[n]) {
  %2 = constant() {dtype=f32, number=2, integer=0} : f32[]
  %3 = size() {dim=n, dtype=f32} : f32[]
  %4 = cond(%0, %1, %1) {then_inputs=1} : f32[n]
    then(%0: f32[n]) {
      %3 = constant() {dtype=f32, number=2, integer=0} : f32[]
      %2 = multiply(%0, %3) : f32[n]
      return %2
    }
    else(%1: f32[n]) {
      %3 = size() {dim=n, dtype=f32} : f32[]
      %2 = add(%1, %3) : f32[n]
      return %2
    }
  return %4
}
)");
  check_pass(passes::sink_constants, R"(graph f(%0 x: f32[]) {
  %1 = constant() {dtype=f32, number=2, integer=0} : f32[]
  %2 = while_loop(%0, %1, %1) {carried=1, condition_inputs=1, max_iterations=-1} : f32[]
    condition(%0: f32[], %1: f32[]) {
      %2 = less(%0, %1) : b8[]
      return %2
    }
    body(%0: f32[], %1: f32[]) {
      %2 = multiply(%0, %1) : f32[]
      return %2
    }
  return %2
}
)",
             R"(graph f(%0 x: f32[]) {
  %1 = constant() {dtype=f32, number=2, integer=0} : f32[]
  %2 = while_loop(%0) {carried=1, condition_inputs=0, max_iterations=-1} : f32[]
    condition(%0: f32[]) {
      %3 = constant() {dtype=f32, number=2, integer=0} : f32[]
      %2 = less(%0, %3) : b8[]
      return %2
    }
    body(%0: f32[]) {
      %3 = constant() {dtype=f32, number=2, integer=0} : f32[]
      %2 = multiply(%0, %3) : f32[]
      return %2
    }
  return %2
}
)");
}

}  // namespace
}  // namespace anyshape::test
