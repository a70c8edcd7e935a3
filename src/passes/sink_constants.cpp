// Literals, sizes, ranges and fills that a region captures are made inside it instead: there they cost nothing, and other passes see what they are.
#include "base/switches.h"
#include "graph/regions.h"
#include "graph/text.h"
#include "passes/captures.h"
#include "passes/run_passes.h"

#include <algorithm>
#include <string>

namespace anyshape::passes {
namespace {

const Switch pass_switch("sink_constants", "constants are made inside the regions that use them");

using graph::Graph;
using graph::Node;
using graph::Value;

bool is_constant(const Value* value) {
  if (value->node == nullptr) return false;
  return value->node->op->kind == OpKind::Source && std::ranges::all_of(value->node->inputs, is_constant);
}

// The value again, in front of the region's nodes, which come to `made` in order.
Value* make_inside(Graph& region, const Value* value, std::vector<Node*>& made) {
  std::vector<Value*> inputs;
  for (const Value* input : value->node->inputs) inputs.push_back(make_inside(region, input, made));
  made.push_back(region.add_node(*value->node->op, std::move(inputs), value->node->attrs, {&value->spec, 1}));
  return made.back()->outputs[0];
}

void use_instead(Graph& region, Value* old, Value* by) {
  for (Node* node : region.nodes()) std::ranges::replace(node->inputs, old, by);
  std::ranges::replace(region.outputs, old, by);
}

size_t sink_into(Node& node, const Captures& captures) {
  std::vector<Node*> order = captures.region->nodes(), made;
  size_t sunk = 0;
  for (size_t number = captures.count; number-- > 0;) {
    const Value* const outer = node.inputs[captures.outside + number];
    Value* const inner = captures.region->inputs()[captures.inside + number];
    // A node keeps an input; by rows, a shape means another number inside.
    if (node.inputs.size() == 1 || !is_constant(outer) || !inner->spec.shape.same_as(outer->spec.shape)) continue;
    use_instead(*captures.region, inner, make_inside(*captures.region, outer, made));
    remove_capture(node, captures, number);
    ++sunk;
  }
  made.insert(made.end(), order.begin(), order.end());
  captures.region->set_nodes(std::move(made));
  return sunk;
}

}  // namespace

void sink_constants(Graph& graph, Decisions& decisions) {
  for (Node* node : graph.nodes()) {
    size_t sunk = 0;
    // The last region first: what is taken from it leaves the indices of the others.
    std::vector<Captures> all = captures_of(*node);
    std::ranges::reverse(all);
    for (const Captures& captures : all) sunk += sink_into(*node, captures);
    if (sunk > 0)
      decisions.push_back({"sink_constants", graph::label(*node), true, std::to_string(sunk) + " captured constants are made inside"});
    for (const graph::NamedRegion& region : graph::regions_of(*node)) sink_constants(*region.graph, decisions);
  }
}

}  // namespace anyshape::passes
