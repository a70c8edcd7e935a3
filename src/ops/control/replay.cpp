// Forwards through bind(), backwards through the ops' gradient rules.
#include "ops/control/replay.h"

#include "graph/bind.h"
#include "graph/regions.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace anyshape {

using graph::Node;
using graph::Value;

bool Flags::any() const {
  return std::ranges::any_of(span(), [](bool flag) { return flag; });
}

Replay::Replay(const graph::Graph& region, std::span<const Tensor> inputs, const Known& known) : region_(region) {
  for (size_t i = 0; i < inputs.size(); ++i) values_[region.inputs()[i]] = inputs[i];
  for (const Node* node : region.nodes()) {
    if (std::ranges::all_of(node->outputs, [&](const Value* output) { return known.contains(output); })) {
      std::vector<Tensor>& outputs = runs_.try_emplace(node, std::vector<Tensor>(), node->attrs).first->second.first;
      for (const Value* output : node->outputs) outputs.push_back(values_[output] = known.at(output));
      continue;
    }
    std::vector<Tensor> operands;
    for (const Value* input : node->inputs) operands.push_back(values_.at(input));
    Attrs attrs = graph::with_cloned_regions(node->attrs);
    if (node->op->saving != nullptr) attrs = node->op->saving(attrs);
    std::vector<Tensor> outputs = bind_all(*node->op, operands, attrs);
    for (size_t i = 0; i < node->outputs.size(); ++i) values_[node->outputs[i]] = outputs[i];
    runs_[node] = {std::move(outputs), std::move(attrs)};
  }
}

std::vector<Tensor> Replay::outputs() const {
  std::vector<Tensor> outputs;
  for (const Value* output : region_.outputs) outputs.push_back(values_.at(output));
  return outputs;
}

std::vector<Tensor> Replay::pull_back(std::span<const Tensor> dys, std::span<const bool> needed, const Takeover& take_over) const {
  std::unordered_set<const Value*> depends;
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) depends.insert(region_.inputs()[i]);
  }
  for (const Node* node : region_.nodes()) {
    if (std::ranges::none_of(node->inputs, [&](const Value* input) { return depends.contains(input); })) continue;
    for (const Value* output : node->outputs) {
      if (is_floating(output->spec.dtype)) depends.insert(output);
    }
  }
  std::unordered_map<const Value*, Tensor> adjoints;
  auto accumulate = [&](const Value* value, const Tensor& gradient) {
    const auto [found, is_new] = adjoints.try_emplace(value, gradient);
    if (!is_new) found->second = found->second + gradient;
  };
  for (size_t i = 0; i < dys.size(); ++i) {
    if (dys[i].defined() && depends.contains(region_.outputs[i])) accumulate(region_.outputs[i], dys[i]);
  }
  for (auto at = region_.nodes().rbegin(); at != region_.nodes().rend(); ++at) {
    const Node& node = **at;
    const auto& [outputs, attrs] = runs_.at(&node);
    Flags wanted(node.inputs.size()), reached(outputs.size());
    for (size_t i = 0; i < node.outputs.size(); ++i) reached[i] = adjoints.contains(node.outputs[i]);
    for (size_t i = 0; i < node.inputs.size(); ++i) wanted[i] = depends.contains(node.inputs[i]);
    if (!reached.any() || !wanted.any()) continue;
    if (node.op->gradient == nullptr) {
      throw ArgumentError(
          fmt::format("gradient: the target depends on a source through {}, which has no gradient; expected differentiable ops on the way.",
                      node.op->name));
    }
    std::vector<Tensor> inputs, output_gradients;
    for (const Value* input : node.inputs) inputs.push_back(values_.at(input));
    for (size_t i = 0; i < outputs.size(); ++i)
      output_gradients.push_back(reached[i] ? adjoints.at(node.outputs[i]) : zeros_like(outputs[i]));
    const GradientCall call{
        .inputs = inputs, .outputs = outputs, .dys = output_gradients, .attrs = attrs, .needed = wanted.span(), .reached = reached.span()};
    if (take_over) take_over(node, call, wanted.span());
    if (!wanted.any()) continue;
    const std::vector<Tensor> gradients = node.op->gradient(call);
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (wanted[i] && gradients[i].defined()) accumulate(node.inputs[i], gradients[i]);
    }
  }
  std::vector<Tensor> result(needed.size());
  for (size_t i = 0; i < needed.size(); ++i) {
    if (const auto found = adjoints.find(region_.inputs()[i]); needed[i] && found != adjoints.end()) result[i] = found->second;
  }
  return result;
}

}  // namespace anyshape
