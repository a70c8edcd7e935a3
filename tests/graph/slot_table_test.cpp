// Tables by slot: what is added to a graph later has the initial entry until it is written.
#include "graph/slot_table.h"
#include "graph/text.h"
#include "ops/all_ops.h"

#include <gtest/gtest.h>

namespace anyshape::graph {
namespace {

TEST(SlotTable, knows_values_whatever_their_numbers) {
  const auto graph = parse(R"(graph f(%0 x: f32[n], %900000000 y: f32[n]) {
  %1000000000 = add(%0, %900000000) : f32[n]
  return %1000000000
}
)",
                           find_op);
  SlotTable<Value, int> table(*graph, -1);
  Value* const sum = graph->outputs[0];
  table[sum] = 7;
  EXPECT_EQ(table.at(sum), 7);
  for (const Value* input : graph->inputs()) EXPECT_EQ(table.at(input), -1);
  EXPECT_EQ(graph->value_count(), 3U);
  EXPECT_EQ(graph->node_count(), 1U);
}

TEST(SlotTable, grows_with_its_graph) {
  Graph graph;
  Value* const x = graph.add_input({Dtype::f32, {4}, {}});
  SlotTable<Value, int> values(graph);
  SlotSet<Node> nodes(graph);
  const TensorSpec spec{Dtype::f32, {4}, {}};
  const Node* last = nullptr;
  for (int i = 0; i < 100; ++i) {
    last = graph.add_node(exp_op, {x}, {}, {&spec, 1});
    EXPECT_EQ(values.at(last->outputs[0]), 0);
    EXPECT_FALSE(nodes.contains(last));
    if (i % 2 == 0) continue;
    values[last->outputs[0]] = i;
    EXPECT_TRUE(nodes.insert(last));
    EXPECT_FALSE(nodes.insert(last));
  }
  EXPECT_EQ(values.at(last->outputs[0]), 99);
  nodes.erase(last);
  EXPECT_FALSE(nodes.contains(last));
  values.reset(graph);
  EXPECT_EQ(values.at(last->outputs[0]), 0);
}

}  // namespace
}  // namespace anyshape::graph
