// Cheap values are computed again where the backward pass needs them, instead of being kept from the forward pass: where few elementwise
// instructions make a value from others that stay in memory until then anyway. The copy stands in front of its late use, whose loop swallows
// it, and the arena is smaller by the value. relu's mask is read off its result, which the product behind it keeps. Every bit stays.
#include "base/switches.h"
#include "graph/regions.h"
#include "graph/slot_table.h"
#include "graph/text.h"
#include "ops/element_cost.h"
#include "passes/patterns.h"
#include "passes/run_passes.h"

#include <algorithm>
#include <utility>

namespace anyshape::passes {
namespace {

const Switch pass_switch("recompute", "cheap values are computed again instead of being kept for the backward pass");

using graph::Graph;
using graph::Node;
using graph::Value;

constexpr std::string_view stage = "recompute";
constexpr size_t most_copies = 3;  // of one value
constexpr int far = 2, near = 3;   // in loops that end: a wait that costs memory, and one more that costs little

bool is_elementwise(const Node& node) {
  return node.op->kind == OpKind::Elementwise && node.op->element != nullptr && node.outputs[0]->spec.shape.rank() > 0;
}

bool is_cheap(const Node& node) { return element_cost(node) <= cheaper_than_waiting; }

// Between two of these a value is in memory.
bool ends_a_loop(const Node& node) { return node.op->lower != nullptr || node.op->reduce != nullptr || node.op->kind == OpKind::Control; }

// Whether the node's loop computes such an operand itself.
bool can_swallow(const Node& node, const Value& operand) {
  if (node.op->lower != nullptr || node.op->is_alias || node.op->kind == OpKind::Control || node.op->whole_inputs != 0) return false;
  const Shape& space = node.op->reduce != nullptr ? node.inputs[0]->spec.shape : node.outputs[0]->spec.shape;
  return operand.spec.shape.count().same_as(space.count());
}

class Recomputing {
 public:
  Recomputing(Graph& graph, Decisions& decisions)
      : graph_(graph), decisions_(decisions), nodes_(graph.nodes()), results_(graph, graph.outputs), position_(graph), uses_(graph) {
    int loops = 0, number = 0;
    for (Node* node : nodes_) {
      loops += ends_a_loop(*node) ? 1 : 0;
      position_[node] = {number++, loops};
      for (const Value* input : node->inputs) uses_[input].push_back(node);
    }
  }

  void run() {
    for (Node* node : nodes_) read_mask_off_result(*node);
    for (Node* node : nodes_) {
      if (is_elementwise(*node)) copy_to_late_uses(*node);
    }
    std::ranges::sort(copies_, {},
                      [&](const Node* copy) { return std::pair(position_.at(copy).number, copy->slot); });  // as they were made
    std::vector<Node*> order;
    order.reserve(nodes_.size() + copies_.size());
    auto copy = copies_.begin();
    for (Node* node : nodes_) {
      for (; copy != copies_.end() && position_.at(*copy).number == position_.at(node).number; ++copy) order.push_back(*copy);
      order.push_back(node);
    }
    graph_.set_nodes(std::move(order));
  }

 private:
  using Uses = InlineVector<Node*, 2>;
  struct Position {
    int number = 0;  // in the order of nodes
    int loops = 0;   // that end up to there
  };

  // Uses so far behind the node that its value has to wait in memory for them; not by copies, which were made because it waits anyway.
  std::vector<Node*> late_uses(const Node& node) const {
    std::vector<Node*> late;
    if (results_.contains(node.outputs[0])) return late;
    for (Node* user : uses_.at(node.outputs[0])) {
      const Position& position = position_.at(user);
      const bool is_copy = nodes_[static_cast<size_t>(position.number)] != user;
      if (!is_copy && position.loops - position_.at(&node).loops > far && std::ranges::find(late, user) == late.end()) late.push_back(user);
    }
    return late;
  }

  // In memory for the sake of another use at a position, or until shortly before.
  bool stays(const Value* value, const Node& without, const Node& until) const {
    if (value->node == nullptr || value->node->op->kind == OpKind::Source || value->spec.shape.rank() == 0) return true;
    if (value->node->op->is_alias) return stays(value->node->inputs[0], without, until);
    if (results_.contains(value)) return true;
    return std::ranges::any_of(uses_.at(value), [&](const Node* user) {
      return user != &without && position_.at(user).loops + near >= position_.at(&until).loops;
    });
  }

  void note(const Node& node, bool yes, std::string reason) const {
    decisions_.push_back({stage, graph::label(node), yes, std::move(reason)});
  }

  // A new node in front of the user, which reads it instead of `old`.
  void use_copy(Node& user, Value* old, const OpDef& op, graph::ValueList inputs) {
    Node* const copy = graph_.add_node(op, std::move(inputs), old->node->attrs, {&old->spec, 1});
    const Position position = position_.at(&user);
    position_[copy] = position;
    copies_.push_back(copy);
    for (const Value* input : copy->inputs) uses_[input].push_back(copy);
    std::ranges::replace(user.inputs, old, copy->outputs[0]);
    Uses& left = uses_[old];
    left.erase(std::remove(left.begin(), left.end(), &user), left.end());
    uses_[copy->outputs[0]].push_back(&user);
  }

  // x <= 0 exactly where relu(x) <= 0.
  void read_mask_off_result(const Node& node) {
    if (mask_of_relu(node) == nullptr) return;
    const Node& mask = *mask_of_relu(node);
    Value* const result = node.outputs[0];
    for (Node* user : late_uses(mask)) {
      if (!can_swallow(*user, *mask.outputs[0]) || !stays(result, mask, *user)) continue;
      use_copy(*user, mask.outputs[0], *mask.op, {result, mask.inputs[1]});
      note(mask, true, "read off " + graph::label(node) + ", which is kept anyway");
    }
  }

  void copy_to_late_uses(const Node& node) {
    const std::vector<Node*> late = late_uses(node);
    if (late.empty() || !is_cheap(node)) return;
    if (late.size() > most_copies) return note(node, false, "too many late uses");
    for (Node* user : late) {
      if (!can_swallow(*user, *node.outputs[0])) return note(node, false, graph::label(*user) + " reads it from memory");
      for (const Value* input : node.inputs) {
        if (!stays(input, node, *user)) return note(node, false, graph::label(*input->node) + " would have to be kept instead");
      }
    }
    for (Node* user : late) use_copy(*user, node.outputs[0], *node.op, node.inputs);
    note(node, true, "computed again at its late use, from what is kept anyway");
  }

  Graph& graph_;
  Decisions& decisions_;
  const std::vector<Node*> nodes_;
  const graph::SlotSet<Value> results_;
  std::vector<Node*> copies_;  // each in front of the node whose position it has
  graph::SlotTable<Node, Position> position_;
  graph::SlotTable<Value, Uses> uses_;
};

}  // namespace

void recompute(Graph& graph, Decisions& decisions) {
  Recomputing(graph, decisions).run();
  for (const Node* node : graph.nodes()) {
    for (const graph::NamedRegion& region : graph::regions_of(*node)) recompute(*region.graph, decisions);
  }
}

}  // namespace anyshape::passes
