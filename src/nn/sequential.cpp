// Layers one after the other.
#include "nn/network.h"

namespace anyshape::nn {

SequentialNetwork::SequentialNetwork(const std::vector<AnyLayer>& layers) : Layer("Sequential") {
  for (const AnyLayer& layer : layers) add(layer);
}

void SequentialNetwork::add(const AnyLayer& layer) {
  child(layer);
  state().is_built = false;
}

Tensor SequentialNetwork::call(std::span<const Tensor> inputs, const CallContext&) {
  const std::vector<AnyLayer>& layers = state().children;
  if (layers.empty()) return inputs[0];
  Tensor x = layers.front()(std::vector<Tensor>(inputs.begin(), inputs.end()));
  for (size_t i = 1; i < layers.size(); ++i) x = layers[i](x);
  return x;
}

bool SequentialNetwork::accepts_missing() const { return !state().children.empty() && state().children.front().accepts_missing(); }
Dtype SequentialNetwork::input_dtype() const {
  return state().children.empty() ? dtype() : state().children.front().layer()->input_dtype();
}

}  // namespace anyshape::nn
