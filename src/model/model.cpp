// The model's handle: a network with a way to train it.
#include "base/near_names.h"
#include "io/safetensors.h"
#include "model/model_state.h"
#include "model/weights/load.h"
#include "nn/named_weights.h"
#include "runtime/backends.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <mutex>

namespace anyshape {

Model::Model(const AnyLayer& network) : AnyLayer(network), state_(std::make_shared<State>()) {
  if (!network.defined()) throw ArgumentError("model: the layer's handle is empty; expected a layer.");
}

Model::Model(FunctionalOptions options) : Model(anyshape::layer(nn::FunctionalNetwork(options.inputs, options.outputs))) {
  nn::require_layer_name("model", options.name);
  LayerState& state = AnyLayer::layer()->state();
  state.name = options.name.empty() ? "model" : options.name;
  state.is_named = !options.name.empty();
}

Sequential::Sequential(const std::vector<AnyLayer>& layers) : Model(anyshape::layer(nn::SequentialNetwork(layers))) {}

void Sequential::add(const AnyLayer& layer) { static_cast<nn::SequentialNetwork&>(*AnyLayer::layer()).add(layer); }

Model Model::State::handle(const AnyLayer& network, const std::weak_ptr<State>& state) {
  Model model(network);
  if (std::shared_ptr<State> held = state.lock()) model.state_ = std::move(held);
  return model;
}

Model::State& Model::State::of(const Model& model, const char* what) {
  if (model.state_ != nullptr) return *model.state_;
  throw ArgumentError(fmt::format("{}: the handle is empty; expected a model of layers, as Sequential(...).", what));
}

void Model::compile(CompileOptions options) {
  State& state = State::of(*this, "compile");
  if (state.is_fitting) throw ArgumentError("compile: a fit of the model runs; expected compile() before it or after it.");
  model::Compiled compiled = model::compiled(options, AnyLayer::layer()->output_names());
  const std::scoped_lock lock(state.preparing);
  model::put(state.compiled, std::move(compiled));
  state.not_saved.clear();
  model::put(state.train_parts, std::make_shared<model::PartsReport>());
  model::put(state.train_step, {});
  model::put(state.evaluations, {});
  runtime::current_backend().expect_products();  // from here to the first step there is time
}

Function<Tensor(AnyLayer, Optimizer, Batch)> Model::train_step() {
  model::require_compiled(*this, "train_step");
  const std::scoped_lock lock(state_->preparing);
  if (!state_->train_step) model::put(state_->train_step, model::make_train_step(state_));
  return *state_->train_step;
}

Optimizer Model::optimizer() { return model::require_compiled(*this, "optimizer").optimizer; }

Model Model::clone() const { return Model(AnyLayer::clone()); }

AnyLayer Model::layer(const std::string& name) const {
  static_cast<void>(AnyLayer::name());  // ArgumentError for an empty handle
  const LayerState& state = AnyLayer::layer()->state();
  for (size_t i = 0; i < state.children.size(); ++i) {
    const std::string& own = state.child_names[i];
    if (own == name) return state.children[i];
    if (name.starts_with(own + "/")) return Model(state.children[i]).layer(name.substr(own.size() + 1));
  }
  throw ArgumentError("layer: " + unknown_name("layer of the model", name, state.child_names));
}

void Model::stop_training() { State::of(*this, "stop_training").stop = true; }

void Model::save_weights(const std::filesystem::path& file) const {
  nn::require_built(*this, "save_weights");
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const auto& [name, variable] : nn::named_weights(*this)) tensors.emplace_back(name, variable.read());
  io::save_safetensors(file, tensors);
}

LoadReport Model::load_weights(const std::filesystem::path& file, LoadOptions options) {
  nn::require_built(*this, "load_weights");
  return model::load_weights(*this, file, options);
}

}  // namespace anyshape
