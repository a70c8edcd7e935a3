// Rewriting by rules: a pass is a table of small functions, each of which looks at one node and may say what to use instead of its result.
#pragma once
#include "base/decision.h"
#include "graph/slot_table.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape::passes {

// Where in a graph rules look.
class Rewriting {
 public:
  explicit Rewriting(graph::Graph& graph) : graph_(graph) {}

  // A new node in front of the one that is looked at; its result. The spec is the caller's: sizes stay written as they were.
  graph::Value* add(const OpDef& op, graph::ValueList inputs, Attrs attrs, TensorSpec spec);
  // How many nodes and results use a value, as of the beginning of the walk.
  int users(const graph::Value* value) const { return users_.at(value); }
  std::span<graph::Node* const> walked() const { return order_; }  // the nodes up to here
  // The decision's reason, of a rule that has several.
  void because(std::string_view reason) { reason_ = reason; }
  // Why a node stays that a rule was close to replacing: a decision, too, if no rule replaces it in the end.
  void refuse(std::string_view reason) { refusal_ = reason; }

 private:
  friend class Walk;
  graph::Graph& graph_;
  std::vector<graph::Node*> order_;  // what has been walked, and what was added
  graph::SlotTable<graph::Value, int> users_;
  std::string_view reason_, refusal_;
  std::string_view place_;  // of the node that is looked at: what is put in its stead and checks data, too, has been called there
};

struct RewriteRule {
  std::string_view reason;  // of the decision: "x + 0 is x"
  // What to use instead of the node's only result; null: the node stays. Its shape is written as that of the result was.
  graph::Value* (*apply)(Rewriting& at, const graph::Node& node);
};

// Walks the graph and its regions in order, until no rule finds anything. The first rule that answers decides.
void rewrite(std::string_view pass, graph::Graph& graph, std::span<const RewriteRule> rules, Decisions& decisions);

}  // namespace anyshape::passes
