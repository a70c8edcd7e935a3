// verify(): every rule of graphs refuses a small graph that breaks it.
#include "graph/text.h"
#include "ops/all_ops.h"
#include "shape/dim_node.h"

#include <anyshape/error.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

using graph::Graph;

std::string refusal(const Graph& graph) {
  try {
    graph::verify(graph);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

graph::Node* add(Graph& graph, const OpDef& op, std::vector<graph::Value*> inputs, const TensorSpec& output) {
  return graph.add_node(op, std::move(inputs), op.attrs != nullptr ? op.attrs() : Attrs(), {&output, 1});
}

struct GraphVerify : testing::Test {
  GraphVerify() { graph.name = "bad"; }
  void expect(const std::string& wanted) { EXPECT_EQ(refusal(graph).rfind("graph \"bad\": " + wanted, 0), 0U) << refusal(graph); }

  Graph graph;
  Dim n = make_symbol("n"), m = make_symbol("m");
  graph::Value* a = graph.add_input(spec(f32, {n, 4}));
  graph::Value* b = graph.add_input(spec(i32, {n, 4}));
};

TEST_F(GraphVerify, accepts_what_the_rules_give) {
  graph.outputs = {add(graph, add_op, {a, a}, spec(f32, {n, 4}))->outputs[0]};
  EXPECT_NO_THROW(graph::verify(graph));
}

TEST_F(GraphVerify, accepts_a_size_that_could_be_the_same) {
  graph.outputs = {add(graph, add_op, {a, a}, spec(f32, {m, 4}))->outputs[0]};
  EXPECT_NO_THROW(graph::verify(graph)) << "n and m may have been checked to be equal";
}

TEST_F(GraphVerify, refuses_sizes_that_are_provably_different) {
  add(graph, add_op, {a, a}, spec(f32, {n, 5}));
  expect("add gives f32[n, 5] but its rule says f32[n, 4]");
}

TEST_F(GraphVerify, refuses_symbolic_sizes_that_are_provably_different) {
  add(graph, add_op, {a, a}, spec(f32, {n + 1, 4}));
  expect("add gives f32[n + 1, 4] but its rule says f32[n, 4]");
}

TEST_F(GraphVerify, refuses_another_dtype) {
  add(graph, add_op, {a, a}, spec(f64, {n, 4}));
  expect("add gives f64[n, 4] but its rule says f32[n, 4]");
}

TEST_F(GraphVerify, refuses_another_rank) {
  add(graph, add_op, {a, a}, spec(f32, {n}));
  expect("add gives f32[n] but its rule says f32[n, 4]");
}

TEST_F(GraphVerify, refuses_another_number_of_inputs) {
  add(graph, add_op, {a}, spec(f32, {n, 4}));
  expect("add breaks its rule: add: got 1 inputs; expected 2.");
}

TEST_F(GraphVerify, refuses_inputs_that_were_not_cast) {
  add(graph, add_op, {a, b}, spec(f32, {n, 4}));
  expect("add breaks its rule: add: input 1 is i32; expected it cast to f32.");
}

TEST_F(GraphVerify, refuses_shapes_the_op_does_not_take) {
  graph::Value* c = graph.add_input(spec(f32, {n, 5}));
  add(graph, add_op, {a, c}, spec(f32, {n, 4}));
  expect("add breaks its rule: add: shapes do not broadcast");
}

TEST_F(GraphVerify, refuses_another_number_of_outputs) {
  const TensorSpec outputs[] = {spec(f32, {n, 4}), spec(f32, {n, 4})};
  graph.add_node(add_op, {a, a}, {}, outputs);
  expect("add has 2 outputs but its rule says 1");
}

TEST_F(GraphVerify, refuses_values_used_before_they_are_made) {
  graph::Node* first = add(graph, negative_op, {a}, spec(f32, {n, 4}));
  graph::Node* second = add(graph, negative_op, {first->outputs[0]}, spec(f32, {n, 4}));
  graph.set_nodes({second, first});
  expect("negative reads %2 before it is made");
}

TEST_F(GraphVerify, refuses_a_node_that_is_there_twice) {
  graph::Node* node = add(graph, negative_op, {a}, spec(f32, {n, 4}));
  graph.set_nodes({node, node});
  expect("negative makes %2 a second time");
}

TEST_F(GraphVerify, refuses_an_input_that_is_there_twice) {
  graph.order_inputs({a, b, a});
  expect("input makes %0 a second time");
}

TEST_F(GraphVerify, refuses_a_result_that_nothing_makes) {
  graph.outputs = {add(graph, negative_op, {a}, spec(f32, {n, 4}))->outputs[0]};
  graph.set_nodes({});
  expect("return names %2, which nothing makes");
}

}  // namespace
}  // namespace anyshape::test
