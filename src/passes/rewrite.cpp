// Walks again as long as something changed: what a rule puts in may be what another looks for.
#include "passes/rewrite.h"

#include "graph/regions.h"
#include "graph/text.h"

namespace anyshape::passes {

using graph::Graph;
using graph::Node;
using graph::Value;

Value* Rewriting::add(const OpDef& op, std::vector<Value*> inputs, Attrs attrs, TensorSpec spec) {
  spec.name.clear();
  Node* const node = graph_.add_node(op, std::move(inputs), std::move(attrs), {&spec, 1});
  if (op.checks_data()) node->place = place_;
  order_.push_back(node);
  return node->outputs[0];
}

int Rewriting::users(const Value* value) const {
  const auto found = users_.find(value);
  return found == users_.end() ? 0 : found->second;
}

class Walk {
 public:
  Walk(std::string_view pass, Graph& graph, std::span<const RewriteRule> rules, Decisions& decisions)
      : pass_(pass), graph_(graph), rules_(rules), decisions_(decisions), at_(graph) {}

  bool changes_something() {
    for (const Node* node : graph_.nodes()) {
      for (const Value* input : node->inputs) ++at_.users_[input];
    }
    for (const Value* output : graph_.outputs) ++at_.users_[output];
    const std::vector<Node*> nodes = graph_.nodes();
    for (Node* node : nodes) visit(*node);
    for (Value*& output : graph_.outputs) output = current(output);
    graph_.set_nodes(std::move(at_.order_));
    return !replaced_.empty();
  }

 private:
  Value* current(Value* value) const {
    const auto found = replaced_.find(value);
    return found == replaced_.end() ? value : found->second;
  }

  void visit(Node& node) {
    for (Value*& input : node.inputs) input = current(input);
    const bool may_go = node.outputs.size() == 1 && !node.made && at_.users(node.outputs[0]) > 0;
    if (!may_go || !replace(node)) at_.order_.push_back(&node);
  }

  bool replace(const Node& node) {
    at_.place_ = node.place;
    for (const RewriteRule& rule : rules_) {
      Value* const by = rule.apply(at_, node);
      if (by == nullptr) continue;
      replaced_[node.outputs[0]] = by;
      decisions_.push_back({pass_, graph::label(node), true, std::string(rule.reason)});
      return true;
    }
    return false;
  }

  std::string_view pass_;
  Graph& graph_;
  std::span<const RewriteRule> rules_;
  Decisions& decisions_;
  Rewriting at_;
  std::unordered_map<const Value*, Value*> replaced_;
};

void rewrite(std::string_view pass, Graph& graph, std::span<const RewriteRule> rules, Decisions& decisions) {
  constexpr int most = 16;  // walks; rules make things smaller, so this is never met
  for (int walk = 0; walk < most && Walk(pass, graph, rules, decisions).changes_something(); ++walk) {
  }
  for (const Node* node : graph.nodes()) {
    for (const graph::NamedRegion& region : graph::regions_of(*node)) rewrite(pass, *region.graph, rules, decisions);
  }
}

}  // namespace anyshape::passes
