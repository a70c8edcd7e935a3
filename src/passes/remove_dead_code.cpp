// Dead code: what no output depends on is not computed.
#include "graph/regions.h"
#include "passes/run_passes.h"

#include <algorithm>
#include <unordered_set>

namespace anyshape::passes {

void remove_dead_code(graph::Graph& graph) {
  std::unordered_set<const graph::Node*> needed;
  auto need = [&](const graph::Value* value) {
    if (value->node != nullptr) needed.insert(value->node);
  };
  for (const graph::Value* output : graph.outputs) need(output);
  std::vector<graph::Node*> kept;
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    if (!needed.contains(*node)) continue;
    kept.push_back(*node);
    for (const graph::NamedRegion& region : graph::regions_of(**node)) remove_dead_code(*region.graph);
    for (const graph::Value* input : (*node)->inputs) need(input);
  }
  std::ranges::reverse(kept);
  graph.set_nodes(std::move(kept));
}

}  // namespace anyshape::passes
