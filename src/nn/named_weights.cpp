// The walk that names weights.
#include "nn/named_weights.h"

#include "nn/layer_state.h"

#include <cstdint>
#include <unordered_set>

namespace anyshape::nn {
namespace {

struct Walk {
  std::vector<std::pair<std::string, Variable>> found = {};
  std::unordered_set<uint64_t> known = {};

  void collect(const LayerState& state, const std::string& prefix) {
    for (const LayerState::Weight& weight : state.weights) {
      if (known.insert(weight.variable.id()).second) found.emplace_back(prefix + weight.variable.name(), weight.variable);
    }
    for (size_t i = 0; i < state.children.size(); ++i) collect(state.children[i].layer()->state(), prefix + state.child_names[i] + "/");
  }
};

}  // namespace

std::vector<std::pair<std::string, Variable>> named_weights(const AnyLayer& layer) {
  Walk walk;
  walk.collect(layer.layer()->state(), "");
  return std::move(walk.found);
}

}  // namespace anyshape::nn
