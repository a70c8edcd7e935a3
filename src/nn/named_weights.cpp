// The walk that names weights.
#include "nn/named_weights.h"

#include "nn/layer_state.h"

#include <algorithm>

namespace anyshape::nn {
namespace {

void collect(const AnyLayer& layer, const std::string& prefix, std::vector<std::pair<std::string, Variable>>& found) {
  for (const LayerState::Weight& weight : layer.layer()->state().weights) {
    const bool is_known = std::ranges::any_of(found, [&](const auto& other) { return other.second.id() == weight.variable.id(); });
    if (!is_known) found.emplace_back(prefix + weight.variable.name(), weight.variable);
  }
  for (const AnyLayer& child : layer.children()) collect(child, prefix + child.name() + "/", found);
}

}  // namespace

std::vector<std::pair<std::string, Variable>> named_weights(const AnyLayer& layer) {
  std::vector<std::pair<std::string, Variable>> found;
  collect(layer, "", found);
  return found;
}

}  // namespace anyshape::nn
