// Activations that note their logits.
#include "nn/named_activation.h"

#include "nn/notes.h"

namespace anyshape::nn {

Tensor activate(const ActivationFunction& activation, const Tensor& x) {
  const Tensor result = activation(x);
  if (activation.name() == "sigmoid") return with_logits(result, {x, Probability::Sigmoid});
  if (activation.name() == "softmax") return with_logits(result, {x, Probability::Softmax});
  return result;
}

}  // namespace anyshape::nn
