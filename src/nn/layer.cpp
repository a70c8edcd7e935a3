// The base of layers: weights, children, and what a layer does unless it says otherwise.
#include "base/no_fork.h"
#include "function/random_state.h"
#include "graph/clone_scope.h"
#include "graph/outside_trace.h"
#include "nn/describe_call.h"
#include "nn/layer_state.h"
#include "nn/loading_scope.h"
#include "nn/step_losses.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape {

Layer::Layer() : Layer("") {}
Layer::Layer(std::string type_name) : state_(std::make_shared<LayerState>(std::move(type_name))) {
  if (const nn::LoadingScope* const loading = nn::LoadingScope::current()) loading->count_layer();
}
Layer::~Layer() = default;

Layer::Layer(const Layer& other) : state_(other.state_) {
  const bool is_clone = CloneScope::current() != nullptr;
  if (other.state_->is_built && !is_clone) return;
  state_ = std::make_shared<LayerState>(other.state_->type);
  state_->name = other.state_->name;
  state_->is_named = other.state_->is_named;
  state_->is_placed = is_clone && other.state_->is_placed;
  state_->has_other_names = is_clone && other.state_->has_other_names;
  state_->dtype = other.state_->dtype;
  state_->copy = other.state_->copy;
  state_->made = other.state_->made;
  state_->child_field = other.state_->child_field;
  state_->is_built = other.state_->is_built.load();
  state_->is_trainable = other.state_->is_trainable;
  state_->built_on = other.state_->built_on;
  state_->weights = other.state_->weights;    // inside a clone scope these copies are clones
  state_->counters = other.state_->counters;  // likewise
  state_->children = other.state_->children;
  state_->child_names = other.state_->child_names;
}

Tensor Layer::call(const Tensor&, const CallContext&) {
  throw ArgumentError(
      fmt::format("layer {}: call() is not there; expected an override of call(const Tensor&, const CallContext&).", nn::type_of(*this)));
}

Tensor Layer::call(std::span<const Tensor> inputs, const CallContext& context) {
  if (inputs.size() != 1) {
    throw ArgumentError(fmt::format("layer {}: got {} inputs; expected one.", nn::type_of(*this), inputs.size()));
  }
  return call(inputs[0], context);
}

std::vector<Tensor> Layer::call_all(std::span<const Tensor> inputs, const CallContext& context) { return {call(inputs, context)}; }

Dtype Layer::dtype() const { return state_->dtype.value_or(default_dtype()); }

Tensor Layer::mask(std::span<const Tensor>, std::span<const Tensor> masks) const { return supports_masking() ? masks[0] : Tensor(); }

Variable Layer::weight(std::string name, const Shape& shape, WeightOptions options) {
  if (!state_->is_building) {
    throw ArgumentError(
        fmt::format("layer {}: weight \"{}\" is made outside build(); expected weights to be made there, once.", nn::type_of(*this), name));
  }
  nn::require_weight_name(*state_, nn::type_of(*this), name);
  std::vector<Dim> sizes;
  for (const Dim& size : shape) {
    nn::require_known_size(*this, name, size);
    sizes.emplace_back(size.specialize());
  }
  const OutsideTrace outside;                             // a weight is state, whichever trace happens to build the layer
  const function_detail::OutsideRandomScope own_numbers;  // and is drawn as one, whichever call it is
  const Dtype stored = options.dtype.value_or(dtype());
  const nn::LoadingScope* const loading = nn::LoadingScope::current();
  const Tensor initial =
      loading != nullptr ? nn::LoadingScope::unread_weight(Shape(sizes), stored) : options.initializer(Shape(sizes), stored);
  const Variable variable(initial, {.trainable = options.trainable, .name = std::move(name)});
  const NoFork whole;
  state_->weights.push_back({variable, std::move(options.regularizer)});
  return variable;
}

void Layer::add_child(const AnyLayer& layer) { nn::add_child(*state_, nn::type_of(*this), layer); }

void Layer::add_loss(const Tensor& loss) { nn::add_step_loss(loss); }

}  // namespace anyshape
