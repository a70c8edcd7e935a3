// Sequential: its layers in order. One that stands there again is the index of its first one.
#include "nn/layer_config.h"
#include "nn/network.h"
#include "nn/network_config.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::nn {
namespace {

Config config_of(const void* object) {
  const LayerState& state = static_cast<const Layer*>(object)->state();
  std::vector<Config> layers;
  for (size_t i = 0; i < state.children.size(); ++i) {
    const auto first =
        std::ranges::find_if(state.children, [&](const AnyLayer& other) { return other.layer() == state.children[i].layer(); });
    const auto index = static_cast<size_t>(first - state.children.begin());
    layers.push_back(index == i ? child_config(state, i) : Config(static_cast<int64_t>(index)));
  }
  return Config::object("Sequential", {{"layers", std::move(layers)}});
}

struct SequentialArguments {
  std::vector<Config> layers;  // or the number of one before it
};
struct NoOptions {};

AnyLayer make_sequential(SequentialArguments arguments, NoOptions) {
  std::vector<AnyLayer> layers;
  for (const Config& each : arguments.layers) {
    const std::string place = fmt::format("Sequential: layers[{}]", layers.size());
    if (each.kind() == Config::Kind::Integer) {
      layers.push_back(layers[static_cast<size_t>(detail::integer_from(each, place, 0, static_cast<int64_t>(layers.size()) - 1))]);
    } else {
      layers.push_back(detail::from_config<AnyLayer>(each, place));
    }
  }
  return layer(SequentialNetwork(layers));
}

}  // namespace

detail::RegistryEntry sequential_entry() { return network_entry<SequentialNetwork>("Sequential", make_sequential, config_of); }

}  // namespace anyshape::nn
