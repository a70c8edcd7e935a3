// Model::save: all of a model in one file.
#include "base/cut_text.h"
#include "base/thread_context.h"
#include "model/compile_config.h"
#include "model/model_state.h"
#include "model/saved_state.h"
#include "nn/layer_tree.h"
#include "nn/loading_scope.h"
#include "nn/named_weights.h"

#include <anyshape/error.h>
#include <anyshape/registry.h>

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>

namespace anyshape {
namespace model {
namespace {

// What no config can make, and where it stands: "Sequential: layers[1]: Dense: activation".
struct Hole {
  std::string place;
  Config what;
};

std::optional<Hole> hole_in(const Config& config, const std::string& place) {
  if (config.is_callable() || config.is_unregistered() || config.is_data_in_memory()) return Hole{place, config};
  const auto at = [&](const std::string& part) { return place.empty() ? part : place + ": " + part; };
  switch (config.kind()) {
    case Config::Kind::List:
      for (size_t i = 0; i < config.items().size(); ++i) {
        if (auto found = hole_in(config.items()[i], fmt::format("{}[{}]", place, i))) return found;
      }
      return std::nullopt;
    case Config::Kind::Map:
    case Config::Kind::Object: {
      const std::string own = config.kind() == Config::Kind::Object ? at(config.class_name()) : place;
      for (const Config::Field& field : config.fields()) {
        if (auto found = hole_in(field.value, own + ": " + field.name)) return found;
      }
      return std::nullopt;
    }
    default: return std::nullopt;
  }
}

std::string told(const Hole& hole) {
  const std::string place = hole.place.empty() ? "the model" : hole.place;
  if (hole.what.is_unregistered()) {
    const std::string name = shortened(hole.what["class"].as_text());
    return fmt::format(
        "{} is of the class {}, which is not registered; expected classes that a file can name. Register it "
        "(as::register_layer<{}>(\"{}\"), or "
        "the like of its kind) before it is saved and before it is loaded, or keep the weights alone by save_weights().",
        place, name, name, name);
  }
  return fmt::format(
      "{} is a callable of the program's, which no file can hold; expected classes and functions by name. Write it as a class or a "
      "function of "
      "options and register that (as::register_layer, as::register_activation, ...), or keep the weights alone by save_weights().",
      place);
}

// ArgumentError for a network of which no config makes another one. Whether this one does is tried, unless it is what was tried before.
Config architecture_of(const AnyLayer& network, std::string& tried) {
  const auto refuse = [&](std::string_view why) { throw ArgumentError(fmt::format("save: model \"{}\": {}", network.name(), why)); };
  Config config;
  try {
    config = network.config();
  } catch (const ArgumentError& error) {
    refuse(fmt::format("{} A file has the config; save_weights() keeps the weights alone.", error.what()));
  }
  if (const std::optional<Hole> hole = hole_in(config, "")) refuse(told(*hole));
  std::string text = config.to_json();
  if (text == tried) return config;
  try {
    const nn::LoadingScope trial(default_dtype());
    static_cast<void>(make<AnyLayer>(config));
  } catch (const Error& error) {
    refuse(fmt::format("its config makes no model: {}", error.what()));
  }
  tried = std::move(text);
  return config;
}

}  // namespace

static void count_layers(const AnyLayer& layer, std::unordered_set<const Layer*>& layers) {
  if (!layers.insert(layer.layer().get()).second) return;
  for (const AnyLayer& child : layer.children()) count_layers(child, layers);
}

static void require_loadable(const Model& model, const NamedTensors& tensors) {
  std::unordered_set<const Layer*> layers;
  count_layers(model, layers);
  int64_t bytes = 0;
  for (const auto& each : tensors) bytes += each.second.shape().count().value() * size_of(each.second.dtype());
  if (static_cast<int64_t>(layers.size()) <= most_layers(bytes)) return;
  throw ArgumentError(
      fmt::format("save: model \"{}\" has {} layers for {} bytes of tensors; expected at most {}. Keep the weights by save_weights().",
                  model.name(), layers.size(), bytes, most_layers(bytes)));
}

void save_model(const Model& model, const std::filesystem::path& file, Untold untold) {
  Model::State& state = Model::State::of(model, "save");
  nn::require_built(model, "save");
  ModelParts parts{.layers = {default_dtype(), nn::layer_tree(model)}, .random = RandomPart::of(function_detail::random_position())};
  try {
    const std::scoped_lock lock(state.preparing);
    parts.architecture = architecture_of(model, state.tried_architecture);
  } catch (const ArgumentError& error) {
    if (untold == Untold::Refused) throw;
    parts.why_none = error.what();
  }
  NamedTensors tensors;
  for (const auto& [name, variable] : nn::named_weights(model)) tensors.emplace_back(name, variable.read());
  const auto add = [&](std::string_view begin, const std::vector<std::pair<std::string, Variable>>& variables) {
    for (const auto& [name, variable] : variables) tensors.emplace_back(std::string(begin) + name, variable.read());
  };
  add(of_counters, nn::named_counters(model));
  if (state.compiled) {
    parts.compile = compile_config(*state.compiled);
    if (state.compiled->optimizer.defined()) add(of_optimizer, named_slots(state.compiled->optimizer));
  }
  require_loadable(model, tensors);
  if (state.fit_thread == &this_thread) state.fit->save(parts, tensors);
  write_model_file(file, parts, tensors);
}

}  // namespace model

void Model::save(const std::filesystem::path& file) const { model::save_model(*this, file, model::Untold::Refused); }

}  // namespace anyshape
