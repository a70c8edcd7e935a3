// Duplicate removal: two nodes with the same op, inputs and attributes compute the same, unless they draw random numbers. Nodes that make a
// size stay apart: what follows each is written in its own symbol. A value that a loop hands through is the one it was given, and one that
// it gives twice is one.
#include "graph/regions.h"
#include "graph/text.h"
#include "ops/all_ops.h"
#include "ops/control/scan.h"
#include "passes/run_passes.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace anyshape::passes {
namespace {

using Same = std::pair<const graph::Value*, graph::Value*>;

std::vector<Same> repeated(const graph::Node& scan) {
  const ScanAttrs& attrs = scan.attrs.as<ScanAttrs>();
  const std::vector<graph::Value*>& made = attrs.body->outputs;
  const auto carried = static_cast<size_t>(attrs.carried);
  std::vector<Same> same;
  for (size_t i = 0; i < carried; ++i) {
    if (made[i] == attrs.body->inputs()[i]) same.emplace_back(scan.outputs[i], scan.inputs[i]);
  }
  for (size_t i = carried; i < made.size(); ++i) {
    const auto first = static_cast<size_t>(std::find(made.begin() + attrs.carried, made.end(), made[i]) - made.begin());
    if (first < i) same.emplace_back(scan.outputs[i], scan.outputs[first]);
  }
  return same;
}

bool is_used(const graph::Graph& graph, const graph::Value* value) {
  return std::ranges::find(graph.outputs, value) != graph.outputs.end() || std::ranges::any_of(graph.nodes(), [&](const graph::Node* node) {
           return std::ranges::find(node->inputs, value) != node->inputs.end();
         });
}

}  // namespace

void deduplicate(graph::Graph& graph, Decisions& decisions) {
  constexpr std::string_view stage = "deduplicate";
  std::unordered_map<std::string, graph::Node*> seen;
  std::unordered_map<const graph::Value*, graph::Value*> replacement;
  auto current = [&](graph::Value* value) {
    const auto found = replacement.find(value);
    return found == replacement.end() ? value : found->second;
  };
  std::vector<graph::Node*> kept;
  for (graph::Node* node : graph.nodes()) {
    for (graph::Value*& input : node->inputs) input = current(input);
    for (const graph::NamedRegion& region : graph::regions_of(*node)) deduplicate(*region.graph, decisions);
    if (node->op == &scan_op) {
      for (const auto& [output, same] : repeated(*node)) {
        replacement[output] = same;
        if (is_used(graph, output)) decisions.push_back({stage, label(*node), true, "a loop's result is one that is there already"});
      }
    }
    if (node->op->kind == OpKind::Random || node->op->kind == OpKind::Control || node->made) {
      kept.push_back(node);
      continue;
    }
    std::string key(node->op->name);
    for (const graph::Value* input : node->inputs) key += "," + std::to_string(input->id);
    key += ";";
    node->attrs.append_key(key);
    const auto [entry, is_new] = seen.emplace(std::move(key), node);
    if (is_new) {
      kept.push_back(node);
      continue;
    }
    for (size_t i = 0; i < node->outputs.size(); ++i) replacement[node->outputs[i]] = entry->second->outputs[i];
    decisions.push_back({stage, label(*node), true, "equals " + label(*entry->second)});
  }
  for (graph::Value*& output : graph.outputs) output = current(output);
  graph.set_nodes(std::move(kept));
}

}  // namespace anyshape::passes
