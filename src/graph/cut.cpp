// Copies of nodes, in their order.
#include "graph/cut.h"

#include "graph/regions.h"
#include "graph/slot_table.h"

#include <anyshape/error.h>

namespace anyshape::graph {
namespace {

class Copy {
 public:
  explicit Copy(const Graph& from) : to_(std::make_shared<Graph>()), values_(from), nodes_(from) { to_->name = from.name; }

  void add_input(const Value* value) { values_[value] = to_->add_input(value->spec); }

  void add_node(const Node* node) {
    ValueList inputs;
    Specs outputs;
    for (const Value* input : node->inputs) inputs.push_back(of(input));
    for (const Value* output : node->outputs) outputs.push_back(output->spec);
    Attrs attrs = node->op->kind == OpKind::Control ? with_cloned_regions(node->attrs) : node->attrs;
    Node* const copy =
        to_->add_node(*node->op, std::move(inputs), std::move(attrs), outputs, node->made ? std::optional(*node->made) : std::nullopt);
    copy->place = node->place;
    nodes_[node] = copy;
    for (size_t i = 0; i < outputs.size(); ++i) {
      Value*& known = values_[node->outputs[i]];
      if (known == nullptr) known = copy->outputs[i];  // one that was given stays an input
    }
  }

  // Of sizes that depend on data: verified where the node that makes them was copied.
  void add_check(const Check& check) {
    if (check.after != nullptr && nodes_.at(check.after) == nullptr) return;
    to_->checks.push_back(check);
    if (check.after != nullptr) to_->checks.back().after = nodes_.at(check.after);
  }

  std::shared_ptr<Graph> finish(std::span<Value* const> outputs) {
    for (const Value* output : outputs) to_->outputs.push_back(of(output));
    return std::move(to_);
  }

 private:
  Value* of(const Value* value) const {
    if (Value* const known = values_.at(value)) return known;
    throw InternalError("graph: a part needs a value that is not in it");
  }

  std::shared_ptr<Graph> to_;
  SlotTable<Value, Value*> values_;
  SlotTable<Node, Node*> nodes_;
};

}  // namespace

std::shared_ptr<Graph> cut_front(const Graph& graph, size_t nodes, std::span<Value* const> outputs) {
  Copy copy(graph);
  for (const Value* input : graph.inputs()) copy.add_input(input);
  for (size_t i = 0; i < nodes; ++i) copy.add_node(graph.nodes()[i]);
  for (const Check& check : graph.checks) copy.add_check(check);
  return copy.finish(outputs);
}

CutBack cut_back(const Graph& graph, std::span<Value* const> given, std::span<Value* const> outputs) {
  const SlotSet<Value> is_given(graph, given);
  SlotSet<Value> needed(graph);
  SlotSet<Node> nodes(graph);
  const auto need = [&](const Value* value) {
    needed.insert(value);
    if (!is_given.contains(value) && value->node != nullptr) nodes.insert(value->node);
  };
  for (const Value* output : outputs) need(output);
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    if (!nodes.contains(*node)) continue;
    for (const Value* input : (*node)->inputs) need(input);
  }
  CutBack part;
  Copy copy(graph);
  for (size_t i = 0; i < given.size(); ++i) {
    if (!needed.contains(given[i])) continue;
    copy.add_input(given[i]);
    part.inputs.push_back(i);
  }
  for (const Node* node : graph.nodes()) {
    if (nodes.contains(node)) copy.add_node(node);
  }
  for (const Check& check : graph.checks) {
    if (check.after != nullptr) copy.add_check(check);
  }
  part.graph = copy.finish(outputs);
  return part;
}

}  // namespace anyshape::graph
