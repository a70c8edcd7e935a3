// Activations that note their logits.
#include "nn/named_activation.h"

#include "nn/activation_impl.h"
#include "nn/notes.h"

namespace anyshape::nn {

Tensor activate(const ActivationFunction& activation, const Tensor& x) {
  const Tensor result = activation(x);
  if (activation.is_linear() || !activation.impl()->result_is) return result;
  return with_logits(result, {x, *activation.impl()->result_is});
}

}  // namespace anyshape::nn
