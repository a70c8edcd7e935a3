// element_cost(): what decides whether a value is computed again or kept.
#include "ops/element_cost.h"

#include "graph/text.h"
#include "ops/all_ops.h"

#include <gtest/gtest.h>

#include <map>

namespace anyshape::test {
namespace {

std::map<std::string_view, int> costs_of(const std::string& text) {
  std::map<std::string_view, int> costs;
  const auto graph = graph::parse(text, find_op);
  for (const graph::Node* node : graph->nodes()) costs[node->op->name] = element_cost(*node);
  return costs;
}

// None of these is worth memory.
TEST(ElementCost, most_ops_are_one_instruction) {
  const auto costs = costs_of(R"(graph f(%0 x: f32[n], %1 y: f32[n], %2 m: b8[n]) {
  %3 = add(%0, %1) : f32[n]
  %4 = subtract(%0, %1) : f32[n]
  %5 = multiply(%0, %1) : f32[n]
  %6 = negative(%0) : f32[n]
  %7 = abs(%0) : f32[n]
  %8 = maximum(%0, %1) : f32[n]
  %9 = minimum(%0, %1) : f32[n]
  %10 = where(%2, %0, %1) : f32[n]
  %11 = cast(%0) {dtype=i32} : i32[n]
  %12 = equal(%0, %1) : b8[n]
  %13 = not_equal(%0, %1) : b8[n]
  %14 = less(%0, %1) : b8[n]
  %15 = less_equal(%0, %1) : b8[n]
  %16 = logical_and(%2, %2) : b8[n]
  %17 = logical_or(%2, %2) : b8[n]
  %18 = logical_not(%2) : b8[n]
  return %18
}
)");
  EXPECT_EQ(costs.size(), 16U);
  for (const auto& [name, cost] : costs) EXPECT_EQ(cost, 1) << name;
}

TEST(ElementCost, a_division_counts_as_several_and_a_function_as_what_it_is_made_of) {
  const auto costs = costs_of(R"(graph f(%0 x: f32[n], %1 y: f32[n]) {
  %2 = divide(%0, %1) : f32[n]
  %3 = sqrt(%0) : f32[n]
  %4 = rsqrt(%0) : f32[n]
  %5 = exp(%0) : f32[n]
  return %5
}
)");
  EXPECT_EQ(costs.at("divide"), division_cost);
  EXPECT_EQ(costs.at("sqrt"), division_cost);
  EXPECT_EQ(costs.at("rsqrt"), 2 * division_cost);
  EXPECT_GT(costs.at("exp"), 2 * division_cost);
}

}  // namespace
}  // namespace anyshape::test
