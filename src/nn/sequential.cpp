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

std::vector<Tensor> SequentialNetwork::call_all(std::span<const Tensor> inputs, const CallContext&) {
  const std::vector<AnyLayer>& layers = state().children;
  if (layers.empty()) return {inputs[0]};
  std::vector<Tensor> x(inputs.begin(), inputs.end());
  for (size_t i = 0; i + 1 < layers.size(); ++i) x = {layers[i](x)};
  return layers.back().outputs(x).tensors();
}

std::vector<std::string> SequentialNetwork::output_names() const {
  return state().children.empty() ? std::vector<std::string>() : state().children.back().layer()->output_names();
}
std::vector<TensorSpec> SequentialNetwork::input_specs() const {
  return state().children.empty() ? std::vector<TensorSpec>() : state().children.front().layer()->input_specs();
}
bool SequentialNetwork::accepts_missing() const { return !state().children.empty() && state().children.front().accepts_missing(); }
bool SequentialNetwork::input_accepts_missing(size_t input) const {
  return !state().children.empty() && state().children.front().layer()->input_accepts_missing(input);
}
Dtype SequentialNetwork::input_dtype() const {
  return state().children.empty() ? dtype() : state().children.front().layer()->input_dtype();
}

}  // namespace anyshape::nn
