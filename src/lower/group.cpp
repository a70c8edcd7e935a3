// A value stays out of memory when its op can be said element by element and exactly one loop needs it, as often as it needs its own elements.
#include "lower/group.h"

#include "base/switches.h"
#include "graph/text.h"
#include "lower/fuse_rows.h"
#include "lower/merge.h"

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::lower {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;

bool is_source(const OpDef& op) { return op.kind == OpKind::Source; }

// A producer whose elements the consumer asks for once each; a broadcast would compute them again and again.
bool same_iteration_space(const Value& value, const Node& consumer) {
  const Shape& space = consumer.op->reduce != nullptr ? consumer.inputs[0]->spec.shape : consumer.outputs[0]->spec.shape;
  return value.spec.shape.count().same_as(space.count());
}

// Why a value is in memory; empty: it is computed in the loop that uses it.
std::string why_in_memory(const Value& value, const std::vector<const Node*>& consumers) {
  const OpDef& op = *value.node->op;
  if (op.element == nullptr || op.is_alias) return "no rule says one element of it";
  for (const Node* consumer : consumers) {
    const bool needs_memory = consumer->op->lower != nullptr || consumer->op->is_alias || consumer->op->kind == OpKind::Control;
    for (size_t k = 0; k < consumer->inputs.size(); ++k) {
      const bool is_whole = (consumer->op->whole_inputs >> k & 1) != 0;
      if (consumer->inputs[k] == &value && (needs_memory || is_whole)) return graph::label(*consumer) + " reads it from memory";
    }
  }
  if (is_source(op)) return "";
  if (consumers.size() != 1) return fmt::format("{} ops read it", consumers.size());
  return same_iteration_space(value, *consumers[0]) ? "" : graph::label(*consumers[0]) + " would compute its elements again and again";
}

}  // namespace

Groups group(const Graph& graph, Decisions& decisions) {
  std::unordered_map<const Value*, std::vector<const Node*>> consumers;
  for (const Node* node : graph.nodes()) {
    for (const Value* input : node->inputs) {
      std::vector<const Node*>& users = consumers[input];
      if (users.empty() || users.back() != node) users.push_back(node);
    }
  }
  const bool inlines = !is_switched_off("inline");
  Groups groups;
  Roots roots;
  std::unordered_map<const Node*, int> ops_inside;  // of the loop a node's element is computed in
  for (const Node* node : graph.nodes()) {
    int count = 1;
    for (const Value* input : node->inputs) {
      if (input->node == nullptr || groups.in_memory.contains(input)) continue;
      if (count + ops_inside[input->node] > largest_group) {
        groups.in_memory.insert(input);
        roots.push_back(input->node);
        decisions.push_back({"inline", graph::label(*input->node), false, "the loop of " + graph::label(*node) + " is large enough"});
      } else {
        count += ops_inside[input->node];
      }
    }
    ops_inside[node] = count;
    bool root = false;
    for (const Value* output : node->outputs) {
      const bool is_result = std::ranges::find(graph.outputs, output) != graph.outputs.end();
      const std::string reason = is_result ? "a result" : inlines ? why_in_memory(*output, consumers[output]) : "switched off";
      if (!reason.empty()) {
        groups.in_memory.insert(output);
        root = true;
      }
      if (node->op->element != nullptr && !node->op->is_alias && !is_source(*node->op)) {
        const bool is_inside = reason.empty();
        decisions.push_back({"inline", graph::label(*node), is_inside, is_inside ? "its one reader walks the same elements" : reason});
      }
    }
    if (root) roots.push_back(node);
  }
  // A value put into memory late, because its loop grew too large, still comes before what uses it.
  std::unordered_map<const Node*, size_t> position;
  for (size_t i = 0; i < graph.nodes().size(); ++i) position[graph.nodes()[i]] = i;
  std::ranges::sort(roots, {}, [&](const Node* node) { return position[node]; });
  merge(graph, roots, ops_inside, groups, decisions);
  fuse_rows(graph, groups, decisions);
  return groups;
}

}  // namespace anyshape::lower
