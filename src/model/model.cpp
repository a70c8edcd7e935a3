// The model's handle: a network with a way to train it.
#include "io/safetensors.h"
#include "model/fields.h"
#include "model/model_state.h"
#include "model/reported_metrics.h"
#include "nn/named_weights.h"
#include "nn/training_mode.h"

#include <anyshape/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace anyshape {

Model::Model(const AnyLayer& network) : AnyLayer(network), state_(std::make_shared<State>()) {
  if (!network.defined()) throw ArgumentError("model: the layer's handle is empty; expected a layer.");
}

Model::Model(FunctionalOptions options) : Model(anyshape::layer(nn::FunctionalNetwork(options.inputs, options.outputs))) {
  LayerState& state = AnyLayer::layer()->state();
  state.name = options.name.empty() ? "model" : options.name;
  state.is_named = !options.name.empty();
}

Sequential::Sequential(const std::vector<AnyLayer>& layers) : Model(anyshape::layer(nn::SequentialNetwork(layers))) {}

void Sequential::add(const AnyLayer& layer) const { static_cast<nn::SequentialNetwork&>(*AnyLayer::layer()).add(layer); }

Model Model::State::handle(const AnyLayer& network, const std::weak_ptr<State>& state) {
  Model model(network);
  if (std::shared_ptr<State> held = state.lock()) model.state_ = std::move(held);
  return model;
}

Model::State& Model::State::of(const Model& model, const char* what) {
  if (model.state_ != nullptr) return *model.state_;
  throw ArgumentError(fmt::format("{}: the handle is empty; expected a model of layers, as Sequential(...).", what));
}

namespace {

void require_options(const CompileOptions& options, size_t outputs) {
  if (!options.loss.defined() && options.losses.empty() && !options.step) {
    throw ArgumentError("compile: no loss is given; expected .loss, .losses or a .step of your own.");
  }
  auto require_one_each = [&](size_t count, const char* name) {
    if (count == 0 || count == outputs) return;
    throw ArgumentError(fmt::format("compile: .{} has {} value{} for {} output{}; expected one per output.", name, count,
                                    count == 1 ? "" : "s", outputs, outputs == 1 ? "" : "s"));
  };
  require_one_each(options.losses.size(), "losses");
  require_one_each(options.loss_weights.size(), "loss_weights");
  if (options.step && !(options.metrics.empty() && options.weighted_metrics.empty())) {
    throw ArgumentError("compile: metrics are given with a .step of your own, which alone has the predictions; expected one of the two.");
  }
  for (const std::vector<Metric>* metrics : {&options.metrics, &options.weighted_metrics}) {
    for (const Metric& metric : *metrics) {
      if (metric.result().rank() == 0) continue;
      throw ArgumentError(
          fmt::format("compile: the metric \"{}\" has several results; expected one number per epoch. Give it one threshold or an average, "
                      "or update it yourself.",
                      metric.name()));
    }
  }
}

}  // namespace

void Model::compile(CompileOptions options) const {
  State& state = State::of(*this, "compile");
  if (state.is_fitting) throw ArgumentError("compile: a fit of the model runs; expected compile() before it or after it.");
  const std::vector<std::string> outputs = model::output_names(*this);
  require_options(options, std::max<size_t>(outputs.size(), 1));
  model::make_own_metrics(options, outputs);
  state.compiled = std::move(options);
  state.train_step.reset();
  state.evaluate_step.reset();
}

Function<Tensor(AnyLayer, Optimizer, Batch)> Model::train_step() const {
  model::require_compiled(*this, "train_step");
  if (!state_->train_step) state_->train_step.emplace(model::make_train_step(state_));
  return *state_->train_step;
}

std::vector<Tensor> Model::outputs(const std::vector<Tensor>& inputs, LayerCallOptions options) const {
  State::of(*this, "outputs");
  return model::call_network(*this, inputs, options.training.value_or(nn::is_training()));
}

Optimizer Model::optimizer() const { return model::require_compiled(*this, "optimizer").optimizer; }

Model Model::clone() const { return Model(AnyLayer::clone()); }

AnyLayer Model::layer(const std::string& name) const {
  std::vector<std::string> names;
  for (const AnyLayer& child : children()) {
    if (child.name() == name) return child;
    if (name.starts_with(child.name() + "/")) return Model(child).layer(name.substr(child.name().size() + 1));
    names.push_back(child.name());
  }
  throw ArgumentError(fmt::format("layer: \"{}\" is no layer of the model; expected one of {}.", name, fmt::join(names, ", ")));
}

void Model::stop_training() const { State::of(*this, "stop_training").stop = true; }

void Model::save_weights(const std::filesystem::path& file) const {
  nn::require_built(*this, "save_weights");
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const auto& [name, variable] : nn::named_weights(*this)) tensors.emplace_back(name, variable.read());
  io::save_safetensors(file, tensors);
}

LoadReport Model::load_weights(const std::filesystem::path& file, LoadOptions options) const {
  nn::require_built(*this, "load_weights");
  const std::map<std::string, Tensor> stored = io::load_safetensors(file);
  LoadReport report;
  std::vector<std::pair<Variable, Tensor>> matches;
  const auto own = nn::named_weights(*this);
  for (const auto& [name, variable] : own) {
    const auto found = stored.find(name);
    if (found == stored.end()) {
      report.missing.push_back(name);
    } else if (found->second.dtype() != variable.dtype() || !found->second.shape().same_as(variable.shape())) {
      report.mismatched.push_back(fmt::format("{} is {} in the file, {} in the model", name,
                                              to_string(TensorSpec{found->second.dtype(), found->second.shape(), {}}),
                                              to_string(TensorSpec{variable.dtype(), variable.shape(), {}})));
    } else {
      matches.emplace_back(variable, found->second);
    }
  }
  for (const auto& each : stored) {
    if (std::ranges::none_of(own, [&](const auto& weight) { return weight.first == each.first; })) report.unexpected.push_back(each.first);
  }
  if (options.strict && !(report.missing.empty() && report.unexpected.empty() && report.mismatched.empty())) {
    throw FormatError(fmt::format(
        "load_weights: \"{}\" does not fit the model: missing [{}], unexpected [{}], mismatched [{}]; expected the same "
        "weights. Load with .strict = false to take what fits.",
        file.string(), fmt::join(report.missing, ", "), fmt::join(report.unexpected, ", "), fmt::join(report.mismatched, "; ")));
  }
  for (const auto& [variable, tensor] : matches) variable.assign(tensor);
  return report;
}

}  // namespace anyshape
