// The walk that names weights.
#include "nn/named_weights.h"

#include "nn/layer_state.h"

#include <cstdint>
#include <unordered_set>

namespace anyshape::nn {
namespace {

struct Walk {
  bool wants_counters = false;
  std::vector<std::pair<std::string, Variable>> found = {};
  std::unordered_set<uint64_t> known = {};

  void add(const Variable& variable, const std::string& prefix) {
    if (known.insert(variable.id()).second) found.emplace_back(prefix + variable.name(), variable);
  }

  void collect(const LayerState& state, const std::string& prefix) {
    if (wants_counters) {
      for (const Variable& counter : state.counters) add(counter, prefix);
    } else {
      for (const LayerState::Weight& weight : state.weights) add(weight.variable, prefix);
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

std::vector<std::pair<std::string, Variable>> named_counters(const AnyLayer& layer) {
  Walk walk{.wants_counters = true};
  walk.collect(layer.layer()->state(), "");
  return std::move(walk.found);
}

}  // namespace anyshape::nn
