// Dead code: what no output depends on is not computed. A node that makes a size is needed wherever the size is, in checks and regions too.
// Of a loop that is needed stays what is needed of it.
#include "base/switches.h"
#include "graph/regions.h"
#include "graph/slot_table.h"
#include "graph/symbol_collector.h"
#include "graph/text.h"
#include "passes/prune_scan.h"
#include "passes/run_passes.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace anyshape::passes {
namespace {

const Switch pass_switch("remove_dead_code", "what no result needs is not computed");

}  // namespace

void remove_dead_code(graph::Graph& graph, Decisions& decisions) {
  constexpr std::string_view stage = "remove_dead_code";
  graph::SlotSet<graph::Node> needed(graph);
  graph::SlotSet<graph::Value> values(graph);
  auto need = [&](const graph::Value* value) {
    values.insert(value);
    if (value->node != nullptr) needed.insert(value->node);
  };
  std::unordered_map<uint64_t, const graph::Node*> makers;
  for (const graph::Node* node : graph.nodes()) {
    if (node->made) makers[as_symbol(node->made->symbol)->id] = node;
  }
  const auto need_sizes = [&](const auto& of) {
    if (makers.empty()) return;
    graph::SymbolCollector used;
    used.add(of);
    for (const Symbol& symbol : used.symbols) {
      if (const auto maker = makers.find(symbol.id); maker != makers.end()) needed.insert(maker->second);
    }
  };
  for (const graph::Value* output : graph.outputs) {
    need(output);
    for (const Dim& size : output->spec.shape) need_sizes(size);
  }
  for (const graph::Check& check : graph.checks) need_sizes(check.check);
  std::vector<graph::Node*> kept;
  kept.reserve(graph.nodes().size());
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    if (!needed.contains(*node)) continue;
    kept.push_back(*node);
    if ((*node)->op->traits.control == ControlFlow::Scan &&
        prune_scan(**node, [&](const graph::Value* value) { return values.contains(value); })) {
      decisions.push_back({stage, graph::label(**node), true, "some of what the loop carries or gives is needed by no result"});
    }
    for (const graph::NamedRegion& region : graph::regions_of(**node)) remove_dead_code(*region.graph, decisions);
    for (const graph::Value* input : (*node)->inputs) need(input);
    need_sizes(**node);
  }
  std::ranges::reverse(kept);
  if (const size_t dropped = graph.nodes().size() - kept.size(); dropped > 0) {
    decisions.push_back({stage, graph.name, true, std::to_string(dropped) + " nodes are needed by no result"});
  }
  graph.set_nodes(std::move(kept));
}

}  // namespace anyshape::passes
