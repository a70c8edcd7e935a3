// Versions of layers, and what their classes are called.
#include "nn/layer_state.h"

#include "base/class_name.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <typeinfo>

namespace anyshape {

uint64_t LayerState::version() const {
  uint64_t total = Identity::version();
  for (const AnyLayer& child : children) total += child.identity().version();
  return total;
}

static void add_facts(const LayerState& state, const std::string& path, Identity::Facts& facts) {
  const std::string layer = path.empty() ? "" : fmt::format(" of layer \"{}\"", path);
  facts.emplace_back("trainable" + layer, state.is_trainable ? "true" : "false");
  facts.emplace_back("weights" + layer, fmt::format("{}{}", state.weights.size(), state.is_built ? "" : ", not built"));
  for (size_t i = 0; i < state.children.size(); ++i) {
    add_facts(state.children[i].layer()->state(), path.empty() ? state.child_names[i] : path + "/" + state.child_names[i], facts);
  }
}

Identity::Facts LayerState::facts() const {
  Facts facts;
  add_facts(*this, "", facts);
  return facts;
}

namespace nn {

void require_built(const AnyLayer& layer, const char* what) {
  if (layer.is_built()) return;
  throw ArgumentError(fmt::format(
      "{}: layer \"{}\" is not built, so it has no weights yet; expected a built one. Call build(input shape), call it on data, or fit it.",
      what, layer.name()));
}

std::string type_of(const Layer& layer) {
  if (!layer.state().type.empty()) return layer.state().type;
  return class_name(typeid(layer));
}

}  // namespace nn
}  // namespace anyshape
