// Duplicate removal: two nodes with the same op, inputs and attributes compute the same, unless they draw random numbers. Nodes that make a
// size stay apart: what follows each is written in its own symbol. A value that a loop hands through is the one it was given, and one that
// it gives twice is one.
#include "base/switches.h"
#include "graph/regions.h"
#include "graph/slot_table.h"
#include "graph/text.h"
#include "ops/control/scan.h"
#include "passes/run_passes.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace anyshape::passes {
namespace {

const Switch pass_switch("deduplicate", "equal expressions are computed once");

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

// Nodes by what they compute, in one piece of memory: keys are written when they are asked for, none is kept.
class KnownNodes {
 public:
  explicit KnownNodes(size_t expected) {
    size_t room = 16;
    while (room * 3 < expected * 4) room *= 2;
    entries_.resize(room);
  }

  // An earlier one that computes the same; null: there is none, and the node is known from here on. As many as were expected at most.
  graph::Node* find_or_add(graph::Node& node) {
    write_key(node, key_);
    const size_t hash = std::hash<std::string_view>{}(key_), mask = entries_.size() - 1;
    size_t slot = hash & mask;
    for (; entries_[slot].node != nullptr; slot = (slot + 1) & mask) {
      if (entries_[slot].hash != hash) continue;
      write_key(*entries_[slot].node, other_key_);
      if (key_ == other_key_) return entries_[slot].node;
    }
    entries_[slot] = {hash, &node};
    return nullptr;
  }

 private:
  struct Entry {
    size_t hash = 0;
    graph::Node* node = nullptr;
  };

  static void write_key(const graph::Node& node, std::string& key) {
    key.assign(node.op->name);
    for (const graph::Value* input : node.inputs) {
      key += ',';
      key.append(reinterpret_cast<const char*>(&input->slot), sizeof input->slot);
    }
    key += ';';
    node.attrs.append_key(key);
  }

  std::vector<Entry> entries_;  // as many as a power of two, some of them free
  std::string key_, other_key_;
};

}  // namespace

void deduplicate(graph::Graph& graph, Decisions& decisions) {
  constexpr std::string_view stage = "deduplicate";
  KnownNodes known(graph.nodes().size());
  graph::SlotTable<graph::Value, graph::Value*> replacement(graph);
  auto current = [&](graph::Value* value) {
    graph::Value* const found = replacement.at(value);
    return found == nullptr ? value : found;
  };
  std::vector<graph::Node*> kept;
  kept.reserve(graph.nodes().size());
  for (graph::Node* node : graph.nodes()) {
    for (graph::Value*& input : node->inputs) input = current(input);
    for (const graph::NamedRegion& region : graph::regions_of(*node)) deduplicate(*region.graph, decisions);
    if (node->op->traits.control == ControlFlow::Scan) {
      for (const auto& [output, same] : repeated(*node)) {
        replacement[output] = same;
        if (is_used(graph, output)) decisions.push_back({stage, label(*node), true, "a loop's result is one that is there already"});
      }
    }
    if (node->op->kind == OpKind::Random || node->op->kind == OpKind::Control || node->made) {
      kept.push_back(node);
      continue;
    }
    const graph::Node* const same = known.find_or_add(*node);
    if (same == nullptr) {
      kept.push_back(node);
      continue;
    }
    for (size_t i = 0; i < node->outputs.size(); ++i) replacement[node->outputs[i]] = same->outputs[i];
    decisions.push_back({stage, label(*node), true, "equals " + label(*same)});
  }
  for (graph::Value*& output : graph.outputs) output = current(output);
  graph.set_nodes(std::move(kept));
}

}  // namespace anyshape::passes
