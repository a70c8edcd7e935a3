// From a layer back over those that leave every element where it is, up to a Flatten.
#include "model/weights/flattened_image.h"

#include "nn/layer_state.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace anyshape::model {
namespace {

constexpr int least_rank = 4;  // [batch, height, width, channels]: of rows [batch, time, features] many modules have the same order
constexpr std::array<std::string_view, 3> in_between = {"Activation", "Dropout", "Rescaling"};

// The child that gives the input of another one.
std::optional<size_t> before(const LayerState& network, size_t child, const std::vector<std::string>& sources) {
  const bool is_chain = sources.empty() || sources[child].empty();
  if (is_chain) return child == 0 ? std::nullopt : std::optional(child - 1);
  const auto found = std::ranges::find(network.child_names, sources[child]);
  if (found == network.child_names.end()) return std::nullopt;
  return static_cast<size_t>(found - network.child_names.begin());
}

bool is_one(const Dim& size) { return size.is_constant() && size.value() == 1; }

}  // namespace

std::optional<Shape> flattened_image(const AnyLayer& handle, size_t child) {
  const LayerState& network = handle.layer()->state();
  if (network.type != "Functional" && network.type != "Sequential") return std::nullopt;
  const std::vector<std::string> sources = handle.layer()->sources();
  for (std::optional<size_t> at = before(network, child, sources); at; at = before(network, *at, sources)) {
    const LayerState& layer = network.children[*at].layer()->state();
    if (std::ranges::find(in_between, layer.type) != in_between.end()) continue;
    if (layer.type != "Flatten" || layer.built_on.empty() || layer.built_on[0].shape.rank() < least_rank) return std::nullopt;
    const Shape& image = layer.built_on[0].shape;
    for (int axis = 1; axis + 1 < image.rank(); ++axis) {
      if (!is_one(image[axis])) return image;
    }
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace anyshape::model
