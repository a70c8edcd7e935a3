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
  Node* node = nullptr;           // the producer; null for a graph input
  int index = 0;                  // which output of the producer, or which graph input
  int id = 0;                     // its number in the text form
  std::vector<Dim> strides = {};  // of a graph input that is no row-major tensor: one per axis, in elements
  bool joined = false;            // neighbouring axes of one fate in a reduction lie as one, with the stride of the last of them
};

struct Node {
  const OpDef* op = nullptr;
  Attrs attrs;
  std::vector<Value*> inputs;
  std::vector<Value*> outputs;
};

std::vector<TensorSpec> input_specs(const Node& node);

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
  void order_inputs(std::vector<Value*> order);                            // the same inputs, numbered anew
  void number(Value* value, int id);  // for the parser: its number in the text; later values get higher ones

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
  int next_id_ = 0;
};

// The specs an op's own rules give for these inputs. ArgumentError, DtypeError or ShapeError for a number, dtypes or sizes it does not take;
// size rules that stay open go to `open`.
Specs specs_by_rules(const OpDef& op, std::span<const TensorSpec> inputs, const Attrs& attrs, const Facts* facts = nullptr,
                     std::vector<OpCheck>* open = nullptr);

// Throws InternalError where a graph breaks its rules: order, arity, and specs that cannot be what the op's own rules give.
void verify(const Graph& graph);

}  // namespace anyshape::graph
