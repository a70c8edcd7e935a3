// The graph of a trace: nodes in the order they were bound, values with symbolic shapes, checks with who needs them.
#pragma once
#include "base/block_list.h"
#include "base/inline_vector.h"
#include "graph/op_def.h"

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
  uint32_t slot = 0;              // its number among all values that the graph ever had: see slot_table.h
  bool joined = false;            // neighbouring axes of one fate in a reduction lie as one, with the stride of the last of them
};

using ValueList = InlineVector<Value*, 3>;

struct Node {
  const OpDef* op = nullptr;
  Attrs attrs;
  ValueList inputs;
  InlineVector<Value*, 1> outputs;
  uint32_t slot = 0;                          // as of a value
  std::unique_ptr<const MadeSize> made = {};  // most make none
  std::string place = {};                     // the layer, loss or metric that called it, as current_place() says it
};

std::vector<TensorSpec> input_specs(const Node& node);

// A size rule to be verified at every call: before anything runs, or, where it depends on data, as soon as `after` has run.
struct Check {
  SizeCheck check;
  std::string op;    // the op or place that needs it
  std::string what;  // as in OpCheck
  std::string expected;
  std::string operands;  // "a is f32[n], b is f32[m]"
  bool retrace = false;  // its failing means another trace, not an error (an `==` or `specialize()` of the user's)
  const Node* after = nullptr;
  std::string place = {};  // as in Node
};

class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Value* add_input(TensorSpec spec);
  Node* add_node(const OpDef& op, ValueList inputs, Attrs attrs, std::span<const TensorSpec> outputs,
                 const std::optional<MadeSize>& made = {});
  void set_nodes(std::vector<Node*> order) { nodes_ = std::move(order); }  // for passes: the nodes that stay, in order
  void order_inputs(std::vector<Value*> order);                            // the same inputs, numbered anew
  const Node* maker_of(const SizeCheck& check) const;  // the last node that makes one of its symbols; null: known from the start
  // An earlier node whose data-dependent size counts the same value in the same way; null: there is none.
  const Node* find_size(const OpDef& op, const Attrs& attrs, const Value* decides) const;
  void number(Value* value, int id);  // for the parser: its number in the text; later values get higher ones

  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Node*>& nodes() const { return nodes_; }
  size_t value_count() const { return values_.size(); }  // of all there ever were, as slots count them
  size_t node_count() const { return node_storage_.size(); }
  std::vector<Value*> outputs;
  std::vector<Check> checks;
  std::string name;

 private:
  Value* new_value(TensorSpec spec, Node* node, int index);
  BlockList<Value> values_;
  BlockList<Node> node_storage_;
  std::vector<Value*> inputs_;
  std::vector<Node*> nodes_;
  int next_id_ = 0;
};

// The specs with one symbol instead of another: op rules make symbols without a number.
void rename(Specs& specs, const Dim& symbol, const Dim& by);

// The specs an op's own rules give for these inputs. ArgumentError, DtypeError or ShapeError for a number, dtypes or sizes it does not take;
// size rules that stay open go to `open`, a size made by the op to `made`.
Specs specs_by_rules(const OpDef& op, std::span<const TensorSpec> inputs, const Attrs& attrs, const Facts* facts = nullptr,
                     std::vector<OpCheck>* open = nullptr, std::optional<MadeSize>* made = nullptr);

// Throws InternalError where a graph breaks its rules: order, arity, and specs that cannot be what the op's own rules give.
void verify(const Graph& graph);

}  // namespace anyshape::graph
