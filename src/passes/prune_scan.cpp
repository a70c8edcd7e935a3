// A carried value is needed where its last value is, or where a needed value of the body reads it.
#include "passes/prune_scan.h"

#include "ops/control/scan.h"

#include <algorithm>
#include <unordered_set>

namespace anyshape::passes {
namespace {

using graph::Value;

std::unordered_set<const Value*> reaching(const graph::Graph& body, const std::vector<bool>& wanted) {
  std::unordered_set<const Value*> live;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) live.insert(body.outputs[i]);
  }
  for (auto node = body.nodes().rbegin(); node != body.nodes().rend(); ++node) {
    const bool is_live = std::ranges::any_of((*node)->outputs, [&](const Value* output) { return live.contains(output); });
    if (is_live) live.insert((*node)->inputs.begin(), (*node)->inputs.end());
  }
  return live;
}

template <class List>
List kept(const List& all, const std::vector<bool>& flags) {
  List some;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i >= flags.size() || flags[i]) some.push_back(all[i]);
  }
  return some;
}

}  // namespace

bool prune_scan(graph::Node& node, const std::function<bool(const Value*)>& is_needed) {
  ScanAttrs attrs = node.attrs.as<ScanAttrs>();
  graph::Graph& body = *attrs.body;
  const auto carried = static_cast<size_t>(attrs.carried), sequences = static_cast<size_t>(attrs.sequences);
  std::vector<bool> outputs, inputs;
  for (const Value* output : node.outputs) outputs.push_back(is_needed(output));
  std::unordered_set<const Value*> live;
  for (bool grows = true; grows;) {
    grows = false;
    live = reaching(body, outputs);
    for (size_t i = 0; i < carried; ++i) {
      if (outputs[i] || !live.contains(body.inputs()[i])) continue;
      outputs[i] = grows = true;
    }
  }
  for (size_t i = 0; i < body.inputs().size(); ++i) inputs.push_back(i < carried ? outputs[i] : live.contains(body.inputs()[i]));
  const auto count = [](const std::vector<bool>& flags, size_t begin, size_t end) {
    return std::count(flags.begin() + static_cast<std::ptrdiff_t>(begin), flags.begin() + static_cast<std::ptrdiff_t>(end), true);
  };
  if (!attrs.is_packed() && count(inputs, 0, inputs.size()) == 0) return false;  // a node has at least one input
  const bool removes = std::ranges::find(inputs, false) != inputs.end() || std::ranges::find(outputs, false) != outputs.end();
  attrs.carried = count(inputs, 0, carried);
  attrs.sequences = count(inputs, carried, carried + sequences);
  attrs.saved = 0;
  body.outputs = kept(body.outputs, outputs);
  body.order_inputs(kept(body.inputs(), inputs));
  node.inputs = kept(node.inputs, inputs);
  node.outputs = kept(node.outputs, outputs);
  for (size_t i = 0; i < node.outputs.size(); ++i) node.outputs[i]->index = static_cast<int>(i);
  node.attrs = attrs;
  return removes;
}

}  // namespace anyshape::passes
