// The graph of a trace: nodes in the order they were bound, values with symbolic shapes, checks with their place.
#pragma once
#include "graph/op_def.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace anyshape::graph {

struct Node;

struct Value {
  TensorSpec spec;
  Node* node = nullptr;  // the producer; null for a graph input
  int index = 0;         // which output of the producer, or which graph input
  int id = 0;            // its number in the text form
};

struct Node {
  const OpDef* op = nullptr;
  Attrs attrs;
  std::vector<Value*> inputs;
  std::vector<Value*> outputs;
};

// A size rule to be verified at every call before anything runs.
struct Check {
  SizeCheck check;
  std::string op;    // the op or place that needs it
  std::string what;  // as in OpCheck
  std::string expected;
  std::string operands;  // "a is f32[n], b is f32[m]"
  bool retrace = false;  // its failing means another trace, not an error (an `==` or `specialize()` of the user's)
};

class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Value* add_input(TensorSpec spec);
  Node* add_node(const OpDef& op, std::vector<Value*> inputs, Attrs attrs, std::span<const TensorSpec> outputs);
  void set_nodes(std::vector<Node*> order) { nodes_ = std::move(order); }  // for passes: the nodes that stay, in order

  void order_inputs(std::vector<Value*> order);  // the same inputs, numbered anew

  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Node*>& nodes() const { return nodes_; }
  std::vector<Value*> outputs;
  std::vector<Check> checks;
  std::string name;

 private:
  Value* new_value(TensorSpec spec, Node* node, int index);
  std::deque<Value> values_;
  std::deque<Node> node_storage_;
  std::vector<Value*> inputs_;
  std::vector<Node*> nodes_;
};

std::string print(const Graph& graph);
// Throws InternalError where a graph breaks its rules: order, arity, and specs that the op's own shape rule does not give.
void verify(const Graph& graph);

}  // namespace anyshape::graph
