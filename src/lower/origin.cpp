// From who called its ops to the origin of a kernel.
#include "lower/origin.h"

#include "graph/layer_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace anyshape::lower {

using graph::Node;
using graph::Value;

Origins::Origins(const graph::Graph& graph, std::span<const Update> updates, Origin around)
    : around_(std::move(around)), needed_(graph), updates_(graph, -1), readers_(graph), inputs_(graph.inputs()) {
  std::vector<bool> is_update(graph.outputs.size());
  for (const Update& update : updates) {
    is_update[static_cast<size_t>(update.result)] = true;
    updates_[graph.outputs[static_cast<size_t>(update.result)]] = update.argument;
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    if (!is_update[i] && graph.outputs[i]->node != nullptr) needed_.insert(graph.outputs[i]->node);
  }
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    if (!needed_.contains(*node) && (*node)->place.empty()) continue;
    const bool is_forward = !(*node)->place.empty() && !is_in_gradient((*node)->place);
    for (const Value* input : (*node)->inputs) {
      if (input->node != nullptr) needed_.insert(input->node);
      if (input->node == nullptr && is_forward) readers_[input] = *node;
    }
  }
}

Phase Origins::phase_of(const Node& node) const {
  if (is_in_gradient(node.place)) return Phase::Gradient;
  if (!node.place.empty()) return Phase::Forward;
  return needed_.contains(&node) ? around_.phase : Phase::Update;
}

// Of a layer's weights the path; an optimizer's slots beside them say nothing more.
std::vector<std::string> Origins::updated_by(std::span<const Node* const> nodes) const {
  std::vector<std::string> weights, others;
  for (const Node* node : nodes) {
    for (const Value* output : node->outputs) {
      if (updates_.at(output) < 0) continue;
      const Value* const variable = inputs_[static_cast<size_t>(updates_.at(output))];
      const Node* const reader = readers_.at(variable);
      const std::string owner = reader == nullptr ? "" : owner_at(reader->place);
      const bool is_weight = !owner.empty() && owner.find(' ') == std::string::npos;  // "metric mae" has running sums
      (is_weight ? weights : others).push_back(is_weight ? fmt::format("{}/{}", owner, variable->spec.name) : variable->spec.name);
    }
  }
  return weights.empty() ? others : weights;
}

Origin Origins::of(std::span<const Node* const> nodes) const {
  std::array<size_t, 3> counts{};
  for (const Node* node : nodes) ++counts[static_cast<size_t>(phase_of(*node))];
  Origin origin{.phase = static_cast<Phase>(std::ranges::max_element(counts) - counts.begin())};
  const auto add = [&](std::string owner) {
    if (!owner.empty() && std::ranges::find(origin.owners, owner) == origin.owners.end()) origin.owners.push_back(std::move(owner));
  };
  for (const Node* node : nodes) {
    if (phase_of(*node) == origin.phase) add(owner_at(node->place));
  }
  if (origin.phase == Phase::Update) origin.owners = updated_by(nodes);
  if (origin.owners.empty() && origin.phase == around_.phase) origin.owners = around_.owners;
  return origin;
}

}  // namespace anyshape::lower
