// The handle on a layer: builds on the first call, casts, passes masks on, names the layer in errors.
#include "graph/clone_scope.h"
#include "graph/layer_path.h"
#include "graph/stateful.h"
#include "nn/call_scope.h"
#include "nn/describe_call.h"
#include "nn/first_call.h"
#include "nn/layer_state.h"
#include "nn/loading_scope.h"
#include "nn/notes.h"
#include "nn/placeholder.h"
#include "nn/training_mode.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <unordered_set>

namespace anyshape {
namespace {

std::atomic<Dtype> dtype_by_default{Dtype::f32};

Layer& required(const std::shared_ptr<Layer>& layer) {
  if (layer == nullptr) throw ArgumentError("layer: the handle is empty; expected a layer.");
  return *layer;
}

std::shared_ptr<Identity> identity_of(const std::shared_ptr<Layer>& layer) {
  return layer == nullptr ? nullptr : std::shared_ptr<Identity>(layer, &layer->state());
}

std::shared_ptr<Layer> same_or_clone(const std::shared_ptr<Layer>& layer) {
  CloneScope* const scope = CloneScope::current();
  if (scope == nullptr || layer == nullptr) return layer;
  return scope->clone_of(layer, [&] {
    const AnyLayer::Copy copy = layer->state().copy;
    if (copy == nullptr) {
      throw ArgumentError(fmt::format("clone: layer {} cannot be copied; expected a class with a copy constructor.", nn::type_of(*layer)));
    }
    return copy(*layer);
  });
}

void require_inputs(const AnyLayer& layer, std::span<const Tensor> inputs) {
  if (inputs.empty()) throw ArgumentError(fmt::format("layer \"{}\": no input is given; expected at least one.", layer.name()));
  for (const Tensor& input : inputs) {
    if (!input.defined())
      throw ArgumentError(fmt::format("layer \"{}\": an input is an empty tensor handle; expected a tensor.", layer.name()));
  }
}

// A layer's call uses a weight that is not there: of a layer inside that is not built, or one that it has not made itself.
ArgumentError unmade_weight(const LayerState& state) {
  std::vector<std::string> unbuilt;
  for (size_t i = 0; i < state.children.size(); ++i) {
    if (!state.children[i].is_built()) unbuilt.push_back(fmt::format("\"{}\"", state.child_names[i]));
  }
  if (unbuilt.empty()) {
    return ArgumentError(fmt::format(
        "Variable: a handle that refers to no variable is used in a layer's call; expected a weight made by weight() in build(). "
        "Where it is another layer's, call that on data, or its build(input shape), before.{}",
        current_place()));
  }
  return ArgumentError(fmt::format(
      "Variable: a weight is used that is not made yet: {} {} not built; expected weights of layers that are. Call {} on data, or "
      "build(input shape), before a method that uses its weights.{}",
      fmt::join(unbuilt, ", "), unbuilt.size() == 1 ? "is" : "are", unbuilt.size() == 1 ? "it" : "them", current_place()));
}

// The weights of a layer and its children, shared ones once.
void collect(const LayerState& state, std::vector<LayerState::Weight>& weights, std::unordered_set<uint64_t>& known, bool only_trainable) {
  if (only_trainable && !state.is_trainable) return;
  for (const LayerState::Weight& weight : state.weights) {
    if (only_trainable && !weight.variable.trainable()) continue;
    if (known.insert(weight.variable.id()).second) weights.push_back(weight);
  }
  for (const AnyLayer& child : state.children) collect(child.layer()->state(), weights, known, only_trainable);
}

std::vector<Variable> variables_of(const AnyLayer& layer, bool only_trainable) {
  std::vector<LayerState::Weight> weights;
  std::unordered_set<uint64_t> known;
  collect(layer.layer()->state(), weights, known, only_trainable);
  std::vector<Variable> variables;
  for (const LayerState::Weight& weight : weights) variables.push_back(weight.variable);
  return variables;
}

// Floating inputs in the layer's dtype, so that weights and results agree.
Tensor cast_input(const Tensor& input, Dtype dtype) {
  if (!is_floating(input.dtype()) || input.dtype() == dtype) return input;
  const Tensor mask = nn::mask_of(input);
  const Tensor result = cast(input, dtype);
  return mask.defined() ? nn::with_mask(result, mask) : result;
}

}  // namespace

AnyLayer::AnyLayer() : Stateful(std::shared_ptr<Identity>()) {}
AnyLayer::AnyLayer(std::shared_ptr<Layer> layer, Copy copy) : Stateful(identity_of(layer)), layer_(std::move(layer)) {
  if (layer_ == nullptr) return;
  LayerState& state = layer_->state();
  if (copy != nullptr) state.copy = copy;
  if (state.name.empty()) state.name = nn::snake_case(nn::type_of(*layer_));
}
AnyLayer::AnyLayer(const AnyLayer& other) : AnyLayer(same_or_clone(other.layer_)) {}

Tensor AnyLayer::operator()(std::initializer_list<Tensor> inputs, LayerCallOptions options) const {
  return call({inputs.begin(), inputs.size()}, options);
}
Tensor AnyLayer::operator()(const std::vector<Tensor>& inputs, LayerCallOptions options) const { return call(inputs, options); }

Outputs AnyLayer::outputs(const Tensor& input, LayerCallOptions options) const {
  return {results({&input, 1}, options), required(layer_).output_names()};
}
Outputs AnyLayer::outputs(std::initializer_list<Tensor> inputs, LayerCallOptions options) const {
  return {results({inputs.begin(), inputs.size()}, options), required(layer_).output_names()};
}
Outputs AnyLayer::outputs(const std::vector<Tensor>& inputs, LayerCallOptions options) const {
  return {results(inputs, options), required(layer_).output_names()};
}

Tensor AnyLayer::call(std::span<const Tensor> inputs, LayerCallOptions options) const {
  std::vector<Tensor> all = results(inputs, options);
  if (all.size() == 1) return std::move(all[0]);
  throw ArgumentError(
      fmt::format("layer \"{}\": it gives {} results: {}; expected one where a single tensor is asked for. Call outputs() for all of them.",
                  name(), all.size(), fmt::join(Outputs(all, layer_->output_names()).names(), ", ")));
}

std::vector<Tensor> AnyLayer::results(std::span<const Tensor> inputs, LayerCallOptions options) const {
  require_inputs(*this, inputs);
  if (std::ranges::any_of(inputs, nn::is_placeholder)) return nn::describe_call(*this, inputs, options);
  return call_all(inputs, options,
                  [&](std::span<const Tensor> operands, const CallContext& context) { return layer_->call_all(operands, context); });
}

std::vector<Tensor> AnyLayer::call_all(std::span<const Tensor> given, LayerCallOptions options, const Body& body) const {
  Layer& layer = required(layer_);
  require_inputs(*this, given);
  const ScopedLayerName path(nn::name_here(*this));
  const nn::ScopedCaller caller(layer.state());
  const bool training = options.training.value_or(nn::is_training());
  const nn::ScopedTraining scope(training);
  std::vector<Tensor> inputs;
  std::vector<Tensor> masks;
  std::vector<TensorSpec> specs;
  for (const Tensor& input : given) {
    inputs.push_back(is_floating(layer.input_dtype()) ? cast_input(input, dtype()) : input);  // ids stay what they are
    masks.push_back(nn::mask_of(inputs.back()));
    specs.push_back({inputs.back().dtype(), inputs.back().shape(), {}});
  }
  nn::FirstCall first(layer.state());
  std::vector<Tensor> results;
  try {
    if (!is_built()) nn::make_weights(layer, std::move(specs));
    results = nn::run_in_scope([&] {
      std::vector<Tensor> given_back = body(inputs, {.training = training,
                                                     .use_causal_mask = options.use_causal_mask,
                                                     .return_state = options.return_state,
                                                     .return_attention_scores = options.return_attention_scores});
      if (given_back.empty()) {
        throw ArgumentError(fmt::format("layer \"{}\": call_all() gave no tensor; expected at least one.", name()));
      }
      for (const Tensor& result : given_back) {
        if (!result.defined())
          throw ArgumentError(fmt::format("layer \"{}\": call() gave an empty tensor handle; expected a tensor.", name()));
      }
      if (nn::mask_of(given_back[0]).defined()) return given_back;
      const Tensor mask = layer.mask(inputs, masks);
      if (mask.defined()) given_back[0] = nn::with_mask(given_back[0], mask);
      return given_back;
    });
  } catch (const UnmadeVariable&) {
    const ArgumentError told = unmade_weight(layer.state());
    first.undo();
    throw told;
  } catch (const std::exception&) {
    first.undo();
    throw;
  }
  nn::note_results(*this, results);
  return results;
}

void AnyLayer::build(const Shape& input) const { build(std::vector<Shape>{input}); }

void AnyLayer::build(const std::vector<Shape>& inputs) const {
  Layer& layer = required(layer_);
  if (layer.state().is_built) return;
  if (inputs.empty()) throw ArgumentError(fmt::format("build: no shape is given for layer \"{}\"; expected one per input.", name()));
  std::vector<TensorSpec> specs;
  for (const Shape& shape : inputs) specs.push_back({layer.input_dtype(), nn::with_open_sizes(shape), {}});
  if (layer.state().children.empty()) {
    const ScopedLayerName path(name());
    nn::make_weights(layer, std::move(specs));
  } else {
    nn::result_specs(*this, specs);  // only a call shows what the layers inside are built on
  }
}

bool AnyLayer::is_built() const { return required(layer_).state().is_built; }

const std::string& AnyLayer::name() const { return required(layer_).state().name; }
std::string AnyLayer::type() const { return nn::type_of(required(layer_)); }
Dtype AnyLayer::dtype() const { return required(layer_).dtype(); }

std::vector<Variable> AnyLayer::variables() const {
  nn::require_built(*this, "variables");
  return variables_of(*this, false);
}
std::vector<Variable> AnyLayer::trainable_variables() const {
  nn::require_built(*this, "trainable_variables");
  return variables_of(*this, true);
}

std::vector<Tensor> AnyLayer::weights() const {
  nn::require_built(*this, "weights");
  std::vector<Tensor> values;
  for (const Variable& variable : variables()) values.push_back(variable.read());
  return values;
}

void AnyLayer::set_weights(const std::vector<Tensor>& weights) {
  nn::require_built(*this, "set_weights");
  const std::vector<Variable> targets = variables();
  if (weights.size() != targets.size()) {
    throw ArgumentError(
        fmt::format("set_weights: got {} tensors; expected {}, one per weight of \"{}\".", weights.size(), targets.size(), name()));
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    const TensorSpec given{weights[i].dtype(), weights[i].shape(), {}};
    const TensorSpec wanted{targets[i].dtype(), targets[i].shape(), {}};
    if (to_string(given) == to_string(wanted)) continue;
    throw ShapeError(
        fmt::format("set_weights: weight {} (\"{}\") is {}; expected {}.", i, targets[i].name(), to_string(given), to_string(wanted)));
  }
  for (size_t i = 0; i < weights.size(); ++i) targets[i].assign(weights[i]);
}

int64_t AnyLayer::parameter_count() const {
  nn::require_built(*this, "parameter_count");
  int64_t count = 0;
  for (const Variable& variable : variables()) count += variable.shape().count().value();
  return count;
}

bool AnyLayer::trainable() const { return required(layer_).state().is_trainable; }

void AnyLayer::set_trainable(bool trainable) {
  LayerState& state = required(layer_).state();
  if (state.is_trainable != trainable) state.changed();
  state.is_trainable = trainable;
  for (AnyLayer& child : state.children) child.set_trainable(trainable);
}

std::vector<AnyLayer> AnyLayer::children() const { return required(layer_).state().children; }

AnyLayer AnyLayer::clone() const {
  required(layer_);
  const CloneScope scope;
  return *this;
}

bool AnyLayer::accepts_missing() const { return required(layer_).accepts_missing(); }

Dtype default_dtype() {
  const nn::LoadingScope* const loading = nn::LoadingScope::current();
  return loading != nullptr ? loading->default_dtype() : dtype_by_default.load(std::memory_order_relaxed);
}

void set_default_dtype(Dtype dtype) {
  if (!is_floating(dtype)) {
    throw DtypeError(fmt::format("set_default_dtype: {} is given; expected a floating dtype.", to_string(dtype)));
  }
  dtype_by_default.store(dtype, std::memory_order_relaxed);
}

}  // namespace anyshape
