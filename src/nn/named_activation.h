// An activation at the end of a layer: its result remembers the logits where losses can use them.
#pragma once
#include <anyshape/activation.h>

namespace anyshape::nn {

// activation(x). Crossentropies of a sigmoid or softmax are computed from x itself, as in Keras: exact where the probability saturates.
Tensor activate(const ActivationFunction& activation, const Tensor& x);

}  // namespace anyshape::nn
