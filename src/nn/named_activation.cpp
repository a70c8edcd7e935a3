// Activations that note their logits.
#include "nn/named_activation.h"

#include "nn/annotations.h"

namespace anyshape::nn {

Tensor activate(const ActivationFunction& activation, const Tensor& x) {
  const Tensor result = activation(x);
  const bool is_probability = activation.name() == "sigmoid" || activation.name() == "softmax";
  return is_probability ? with_logits(result, x) : result;
}

}  // namespace anyshape::nn
