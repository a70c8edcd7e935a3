// Duplicate removal: two nodes with the same op, inputs and attributes compute the same, unless they draw random numbers. Nodes that make a
// size stay apart: what follows each is written in its own symbol. A value that a loop hands through is the one it was given.
#include "graph/regions.h"
#include "ops/all_ops.h"
#include "ops/control/scan.h"
#include "passes/run_passes.h"

#include <string>
#include <unordered_map>

namespace anyshape::passes {

void deduplicate(graph::Graph& graph) {
  std::unordered_map<std::string, graph::Node*> seen;
  std::unordered_map<const graph::Value*, graph::Value*> replacement;
  auto current = [&](graph::Value* value) {
    const auto found = replacement.find(value);
    return found == replacement.end() ? value : found->second;
  };
  for (graph::Node* node : graph.nodes()) {
    for (graph::Value*& input : node->inputs) input = current(input);
    for (const graph::NamedRegion& region : graph::regions_of(*node)) deduplicate(*region.graph);
    if (node->op == &scan_op) {
      const ScanAttrs& attrs = node->attrs.as<ScanAttrs>();
      for (size_t i = 0; i < static_cast<size_t>(attrs.carried); ++i) {
        if (attrs.body->outputs[i] == attrs.body->inputs()[i]) replacement[node->outputs[i]] = node->inputs[i];
      }
    }
    if (node->op->kind == OpKind::Random || node->op->kind == OpKind::Control || node->made) continue;
    std::string key(node->op->name);
    for (const graph::Value* input : node->inputs) key += "," + std::to_string(input->id);
    key += ";";
    node->attrs.append_key(key);
    const auto [entry, is_new] = seen.emplace(std::move(key), node);
    if (is_new) continue;
    for (size_t i = 0; i < node->outputs.size(); ++i) replacement[node->outputs[i]] = entry->second->outputs[i];
  }
  for (graph::Value*& output : graph.outputs) output = current(output);
}

}  // namespace anyshape::passes
