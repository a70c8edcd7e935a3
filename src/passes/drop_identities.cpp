// Ops that only change a shape, where it stays as it is. Gradients ask for them before it is known.
#include "graph/regions.h"
#include "ops/all_ops.h"
#include "passes/run_passes.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace anyshape::passes {
namespace {

bool is_identity(const graph::Node& node) {
  const OpDef* const shaping[] = {&sum_to_op, &broadcast_to_op, &reshape_op};
  if (std::ranges::find(shaping, node.op) == std::end(shaping) || !node.inputs[0]->strides.empty()) return false;
  return node.outputs[0]->spec.shape.same_as(node.inputs[0]->spec.shape);
}

}  // namespace

void drop_identities(graph::Graph& graph, Decisions& decisions) {
  std::unordered_map<const graph::Value*, graph::Value*> before;
  const auto current = [&](graph::Value* value) {
    const auto found = before.find(value);
    return found == before.end() ? value : found->second;
  };
  for (graph::Node* node : graph.nodes()) {
    for (graph::Value*& input : node->inputs) input = current(input);
    for (const graph::NamedRegion& region : graph::regions_of(*node)) drop_identities(*region.graph, decisions);
    if (is_identity(*node)) before[node->outputs[0]] = node->inputs[0];
  }
  for (graph::Value*& output : graph.outputs) output = current(output);
  std::vector<graph::Node*> kept;
  std::ranges::copy_if(graph.nodes(), std::back_inserter(kept), [&](const graph::Node* node) { return !is_identity(*node); });
  graph.set_nodes(std::move(kept));
}

}  // namespace anyshape::passes
