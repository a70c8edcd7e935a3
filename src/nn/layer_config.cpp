// A layer of ours remembers its options, a network tells its layers, and a class of the user's is asked through the registry.
#include "nn/layer_config.h"

#include "config/own_class.h"
#include "nn/layer_state.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>

namespace anyshape {
namespace nn {
namespace {

// A layer that is inside two others would be two layers when it is made again.
void require_one_parent(const LayerState& parent, std::unordered_map<const Layer*, const LayerState*>& parents) {
  for (const AnyLayer& child : parent.children) {
    const auto [found, is_new] = parents.emplace(child.layer().get(), &parent);
    if (is_new) {
      require_one_parent(child.layer()->state(), parents);
    } else if (found->second != &parent) {
      throw ArgumentError(fmt::format(
          "config: layer \"{}\" is inside \"{}\" and inside \"{}\"; expected each layer to be in one other layer, where it may be used "
          "often. Share it in one functional model.",
          child.name(), found->second->name, parent.name));
    }
  }
}

constexpr const char* trainable = "trainable";

Config options_of(const AnyLayer& layer) {
  const LayerState& state = layer.layer()->state();
  if (state.made == nullptr) return config_of_own(registry_of<AnyLayer>(), *layer.layer());
  const Config made = state.made->config();
  if (state.child_field.empty()) return made;
  std::vector<Config::Field> fields = {{state.child_field, layer_config(state.children.front())}};
  fields.insert(fields.end(), made.fields().begin(), made.fields().end());
  return Config::object(made.class_name(), std::move(fields));
}

// Layers that the config tells with fields of their own say themselves whether they are frozen.
void freeze(AnyLayer& layer, const Config& config) {
  LayerState& state = layer.layer()->state();
  const bool tells_children = config.find("layers") != nullptr || (!state.child_field.empty() && config.find(state.child_field) != nullptr);
  if (tells_children) {
    state.is_trainable = false;
  } else {
    layer.set_trainable(false);
  }
}

}  // namespace

Config layer_config(const AnyLayer& layer) {
  Config config = options_of(layer);
  const bool is_told = config.kind() == Config::Kind::Object && !config.is_callable() && !config.is_unregistered();
  if (is_told && !layer.trainable() && config.find(trainable) == nullptr) config.set(trainable, false);
  return config;
}

void take_trainable(detail::RegistryEntry& entry) {
  entry.make = [make = std::move(entry.make), fields = entry.fields](const Config& config, void* made) {
    const Config* const given = config.kind() == Config::Kind::Object ? config.find(trainable) : nullptr;
    const auto is_option = [](const RegisteredField& field) { return field.name == trainable; };
    if (given == nullptr || std::ranges::any_of(fields(), is_option)) return make(config, made);
    const bool stays = detail::from_config<bool>(*given, config.class_name() + ": " + trainable);
    std::vector<Config::Field> options;
    std::ranges::copy_if(config.fields(), std::back_inserter(options), [](const auto& field) { return field.name != trainable; });
    make(Config::object(config.class_name(), std::move(options)), made);
    if (!stays) freeze(**static_cast<std::optional<AnyLayer>*>(made), config);
  };
}

Config child_config(const LayerState& parent, size_t child) {
  Config config = layer_config(parent.children[child]);
  if (config.find("name") != nullptr && !config.is_callable()) config.set("name", parent.child_names[child]);
  return config;
}

}  // namespace nn

Config AnyLayer::config() const {
  if (layer_ == nullptr) return {};
  std::unordered_map<const Layer*, const LayerState*> parents;
  nn::require_one_parent(layer_->state(), parents);
  return nn::layer_config(*this);
}

void AnyLayer::set_made(std::shared_ptr<const detail::Made> made) {
  if (layer_ == nullptr) throw ArgumentError("layer: the handle is empty; expected a layer.");
  layer_->state().made = std::move(made);
}

}  // namespace anyshape
