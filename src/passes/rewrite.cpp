// Walks again as long as something changed: what a rule puts in may be what another looks for.
#include "passes/rewrite.h"

#include "graph/regions.h"
#include "graph/text.h"

#include <utility>

namespace anyshape::passes {

using graph::Graph;
using graph::Node;
using graph::Value;

Value* Rewriting::add(const OpDef& op, graph::ValueList inputs, Attrs attrs, TensorSpec spec) {
  spec.name.clear();
  Node* const node = graph_.add_node(op, std::move(inputs), std::move(attrs), {&spec, 1});
  node->place = place_;
  order_.push_back(node);
  return node->outputs[0];
}

class Walk {
 public:
  Walk(std::string_view pass, Graph& graph, std::span<const RewriteRule> rules, Decisions& decisions)
      : pass_(pass), graph_(graph), rules_(rules), decisions_(decisions), at_(graph) {}

  // The tables of one walk are those of the next: memory that comes and goes in large pieces is what an allocator takes time for.
  bool changes_something() {
    has_changed_ = false;
    count_users();
    nodes_ = graph_.nodes();  // the graph's own grow by what is added
    refused_.clear();
    at_.order_.clear();
    at_.order_.reserve(nodes_.size());
    for (Node* node : nodes_) visit(*node);
    for (Value*& output : graph_.outputs) output = current(output);
    if (has_changed_ || at_.order_.size() != nodes_.size()) graph_.set_nodes(at_.order_);
    return has_changed_;
  }

  // Those of the last walk: what was refused before may have been replaced since.
  void tell_refusals() const {
    for (const auto& [node, reason] : refused_) decisions_.push_back({pass_, graph::label(*node), false, std::string(reason)});
  }

 private:
  void count_users() {
    at_.users_.reset(graph_);
    for (const Node* node : graph_.nodes()) {
      for (const Value* input : node->inputs) ++at_.users_[input];
    }
    for (const Value* output : graph_.outputs) ++at_.users_[output];
  }

  Value* current(Value* value) const {
    Value* const found = has_changed_ ? replaced_.at(value) : nullptr;
    return found == nullptr ? value : found;
  }

  void visit(Node& node) {
    for (Value*& input : node.inputs) input = current(input);
    const bool may_go = node.outputs.size() == 1 && !node.made && at_.users(node.outputs[0]) > 0;
    if (!may_go || !replace(node)) at_.order_.push_back(&node);
  }

  bool replace(const Node& node) {
    at_.place_ = node.place;
    at_.refuse({});
    for (const RewriteRule& rule : rules_) {
      at_.because(rule.reason);
      Value* const by = rule.apply(at_, node);
      if (by == nullptr) continue;
      if (!has_changed_) replaced_.reset(graph_);
      has_changed_ = true;
      replaced_[node.outputs[0]] = by;
      decisions_.push_back({pass_, graph::label(node), true, std::string(at_.reason_)});
      return true;
    }
    if (!at_.refusal_.empty()) refused_.emplace_back(&node, at_.refusal_);
    return false;
  }

  std::string_view pass_;
  Graph& graph_;
  std::span<const RewriteRule> rules_;
  Decisions& decisions_;
  Rewriting at_;
  std::vector<Node*> nodes_;
  std::vector<std::pair<const Node*, std::string_view>> refused_;
  graph::SlotTable<Value, Value*> replaced_;  // in this walk, if it has changed something
  bool has_changed_ = false;
};

static void walk_while_it_changes(std::string_view pass, Graph& graph, std::span<const RewriteRule> rules, Decisions& decisions) {
  constexpr int most = 16;  // walks; rules make things smaller, so this is never met
  Walk walk(pass, graph, rules, decisions);
  for (int count = 0; count < most && walk.changes_something(); ++count) {
  }
  walk.tell_refusals();
}

void rewrite(std::string_view pass, Graph& graph, std::span<const RewriteRule> rules, Decisions& decisions) {
  walk_while_it_changes(pass, graph, rules, decisions);
  for (const Node* node : graph.nodes()) {
    for (const graph::NamedRegion& region : graph::regions_of(*node)) rewrite(pass, *region.graph, rules, decisions);
  }
}

}  // namespace anyshape::passes
