// A value stays out of memory when its op can be said element by element and exactly one loop needs it, as often as it needs its own elements.
#include "lower/group.h"

#include "base/switches.h"
#include "graph/text.h"
#include "lower/concat_in_place.h"
#include "lower/epilogue.h"
#include "lower/fuse_rows.h"
#include "lower/known_reads.h"
#include "lower/merge.h"
#include "shape/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace anyshape::lower {
namespace {

const Switch inlines_values("inline", "a value that one loop needs is computed in that loop");
const Switch cuts_up("cut_up", "a value that slices take apart is computed by those who read the slices");

using graph::Graph;
using graph::Node;
using graph::Value;

bool is_source(const OpDef& op) { return op.kind == OpKind::Source; }

// A producer whose elements the consumer asks for once each; a broadcast would compute them again and again.
bool same_iteration_space(const Value& value, const Node& consumer) {
  const Shape& space = consumer.op->reduce != nullptr ? consumer.inputs[0]->spec.shape : consumer.outputs[0]->spec.shape;
  return value.spec.shape.count().same_as(space.count());
}

// Whether a loop that computes the value has to find out which operands it repeats: versions of loops do so for the whole of an axis.
bool repeats_openly(const Value& value, const Groups& groups) {
  if (value.node == nullptr || groups.in_memory.contains(&value)) return false;
  const Shape& to = value.spec.shape;
  return std::ranges::any_of(value.node->inputs, [&](const Value* input) {
    const Shape& from = input->spec.shape;
    const bool is_aligned = value.node->op->kind == OpKind::Elementwise;
    for (int axis = 1; is_aligned && axis <= from.rank(); ++axis) {
      if (!proves_equal(from[-axis], to[-axis]).value_or(false) && !proves_equal(from[-axis], 1).value_or(false)) return true;
    }
    return repeats_openly(*input, groups);
  });
}

// Every element is asked for by one of the consumers at most: slices side by side, as split makes them.
bool is_cut_up(const Value& value, std::span<const Node* const> consumers, const Groups& groups) {
  if (consumers.empty() || cuts_up.is_off()) return false;
  std::optional<size_t> along;
  Dim end = 0;
  for (const Node* consumer : consumers) {
    if (consumer->op->traits.part == nullptr) return false;
    const TensorPart part = consumer->op->traits.part(consumer->attrs);
    const Shape& sizes = consumer->outputs[0]->spec.shape;
    for (size_t axis = 0; axis < part.begins.size(); ++axis) {
      const int number = static_cast<int>(axis);
      if (part.begins[axis].same_as(0) && sizes[number].same_as(value.spec.shape[number])) continue;
      if (part.steps[axis] != 1 || along.value_or(axis) != axis) return false;
      along = axis;
    }
    if (!along || *along >= part.begins.size() || !proves_less_equal(end, part.begins[*along]).value_or(false)) return false;
    end = part.begins[*along] + sizes[static_cast<int>(*along)];
  }
  return !repeats_openly(value, groups);
}

// Why a value is in memory; empty: it is computed in the loop that uses it.
std::string why_in_memory(const Value& value, std::span<const Node* const> consumers, const Groups& groups) {
  const OpDef& op = *value.node->op;
  if (op.element == nullptr || op.is_alias) return "no rule says one element of it";
  for (const Node* consumer : consumers) {
    const bool needs_memory = consumer->op->lower != nullptr || consumer->op->is_alias || consumer->op->kind == OpKind::Control;
    for (size_t k = 0; k < consumer->inputs.size(); ++k) {
      const bool is_whole = k < 32 && (consumer->op->whole_inputs >> k & 1) != 0;  // ops of more inputs read none as a whole
      if (consumer->inputs[k] == &value && (needs_memory || is_whole)) return graph::label(*consumer) + " reads it from memory";
    }
  }
  if (is_source(op) || is_cut_up(value, consumers, groups)) return "";
  if (consumers.size() != 1) return fmt::format("{} ops read it", consumers.size());
  return same_iteration_space(value, *consumers[0]) ? "" : graph::label(*consumers[0]) + " would compute its elements again and again";
}

}  // namespace

Groups group(const Graph& graph, Decisions& decisions, std::span<const Update> updates) {
  using Users = InlineVector<const Node*, 2>;
  graph::SlotTable<Value, Users> consumers(graph);
  for (const Node* node : graph.nodes()) {
    for (const Value* input : node->inputs) {
      Users& users = consumers[input];
      if (users.empty() || users.back() != node) users.push_back(node);
    }
  }
  const bool inlines = !inlines_values.is_off();
  const graph::SlotSet<Value> results(graph, graph.outputs);
  Groups groups;
  groups.in_memory = graph::SlotSet<Value>(graph);
  groups.known_reads = std::make_shared<KnownReads>();
  Roots roots;
  graph::SlotTable<Node, int> ops_inside(graph);  // of the loop a node's element is computed in
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
      const std::string reason = results.contains(output) ? "a result"
                                 : inlines                ? why_in_memory(*output, consumers.at(output), groups)
                                                          : "switched off";
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
  graph::SlotTable<Node, size_t> position(graph);
  for (size_t i = 0; i < graph.nodes().size(); ++i) position[graph.nodes()[i]] = i;
  std::ranges::sort(roots, {}, [&](const Node* node) { return position.at(node); });
  merge(graph, roots, ops_inside, groups, decisions);
  fuse_rows(graph, groups, decisions);
  concat_in_place(graph, groups, decisions);
  join_epilogues(graph, updates, groups, decisions);
  return groups;
}

}  // namespace anyshape::lower
