// deduplicate: users of an equal expression are pointed at the first one.
#include "passes/check_pass.h"
#include "passes/run_passes.h"

namespace anyshape::test {
namespace {

TEST(Deduplicate, points_users_at_the_first_of_equal_nodes) {
  check_pass(passes::deduplicate, R"(graph f(%0 x: f32[n], %1 y: f32[n]) {
  %2 = add(%0, %1) : f32[n]
  %3 = add(%0, %1) : f32[n]
  %4 = multiply(%2, %3) : f32[n]
  return %4
}
)",
             R"(graph f(%0 x: f32[n], %1 y: f32[n]) {
  %2 = add(%0, %1) : f32[n]
  %4 = multiply(%2, %2) : f32[n]
  return %4
}
)");
}

TEST(Deduplicate, follows_chains_of_equal_nodes) {
  check_pass(passes::deduplicate, R"(graph f(%0 x: f32[n]) {
  %1 = exp(%0) : f32[n]
  %2 = tanh(%1) : f32[n]
  %3 = exp(%0) : f32[n]
  %4 = tanh(%3) : f32[n]
  %5 = negative(%4) : f32[n]
  return %5
}
)",
             R"(graph f(%0 x: f32[n]) {
  %1 = exp(%0) : f32[n]
  %2 = tanh(%1) : f32[n]
  %5 = negative(%2) : f32[n]
  return %5
}
)");
}

TEST(Deduplicate, results_may_become_the_same_value) {
  check_pass(passes::deduplicate, R"(graph f(%0 x: f32[n]) {
  %1 = exp(%0) : f32[n]
  %2 = exp(%0) : f32[n]
  return %1, %2
}
)",
             R"(graph f(%0 x: f32[n]) {
  %1 = exp(%0) : f32[n]
  return %1, %1
}
)");
}

TEST(Deduplicate, leaves_what_only_looks_alike) {
  const std::string text = R"(graph f(%0 x: f32[n, 4], %1 y: f32[n, 4]) {
  %2 = subtract(%0, %1) : f32[n, 4]
  %3 = subtract(%1, %0) : f32[n, 4]
  %4 = sum(%0) {axes=[1], keep_dims=false} : f32[n]
  %5 = sum(%0) {axes=[0], keep_dims=false} : f32[4]
  %6 = sum(%0) {axes=[1], keep_dims=true} : f32[n, 1]
  %7 = constant() {dtype=f32, number=0, integer=0} : f32[]
  %8 = constant() {dtype=f32, number=-0, integer=0} : f32[]
  %9 = full(%7) {shape=[n]} : f32[n]
  %10 = full(%7) {shape=[n, 4]} : f32[n, 4]
  return %2, %3, %4, %5, %6, %7, %8, %9, %10
}
)";
  check_pass(passes::deduplicate, text, text);
}

TEST(Deduplicate, every_random_op_draws_its_own_numbers) {
  const std::string text = R"(graph f(%0 x: f32[n]) {
  %1 = random::normal() {shape=[n], dtype=f32, stream=-1} : f32[n]
  %2 = random::normal() {shape=[n], dtype=f32, stream=-1} : f32[n]
  %3 = subtract(%1, %2) : f32[n]
  return %3
}
)";
  check_pass(passes::deduplicate, text, text);
}

TEST(Deduplicate, takes_what_a_loop_hands_through_from_before_it) {
  const std::string attrs = "{carried=2, sequences=0, length=t, reverse=false, saved=0, active=0, rows=0, total=0}";
  const auto text = [&](const std::string& used) {
    return "graph f(%0 a: f32[n], %1 b: f32[n], %2 xs: f32[t]) {\n  %3, %4 = scan(%0, %1) " + attrs +
           " : f32[n], f32[n]\n"
           "    body(%0: f32[n], %1: f32[n]) {\n      %2 = add(%0, %1) : f32[n]\n      return %2, %1\n    }\n"
           "  %5 = add(%3, " +
           used + ") : f32[n]\n  return %5, " + used + "\n}\n";
  };
  check_pass(passes::deduplicate, text("%4"), text("%1"));
}

TEST(Deduplicate, takes_what_a_loop_gives_twice_from_one_place) {
  const auto text = [](const std::string& used) {
    return "graph f(%0 a: f32[n], %1 xs: f32[t, n]) {\n"
           "  %2, %3, %4 = scan(%0, %1) {carried=1, sequences=1, length=t, reverse=false, saved=0, active=0, rows=0, total=0} : f32[n], "
           "f32[t, n], f32[t, n]\n"
           "    body(%0: f32[n], %1: f32[n]) {\n      %2 = add(%0, %1) : f32[n]\n      return %2, %2, %2\n    }\n"
           "  return %2, %3, " +
           used + "\n}\n";
  };
  check_pass(passes::deduplicate, text("%4"), text("%3"));
}

}  // namespace
}  // namespace anyshape::test
