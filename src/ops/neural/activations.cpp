// Activations made of other ops: in a function they fuse into the kernels around them, and their gradients follow from the parts.
#include "graph/named_call.h"

#include <anyshape/ops.h>

namespace anyshape {

// Comparisons, not maximum: at the corners the constant is taken, so the gradient there is 0, and NaN stays.
Tensor relu6(const Tensor& x) {
  const NamedCall call("relu6", x);
  return where(x >= 6, 6, where(x <= 0, 0, x));
}

Tensor log_sigmoid(const Tensor& x) {
  const NamedCall call("log_sigmoid", x);
  return -softplus(-x);
}
Tensor hard_sigmoid(const Tensor& x) {
  const NamedCall call("hard_sigmoid", x);
  return relu6(x + 3) / 6;
}
Tensor silu(const Tensor& x) {
  const NamedCall call("silu", x);
  return x * sigmoid(x);
}
Tensor softsign(const Tensor& x) {
  const NamedCall call("softsign", x);
  return x / (1 + abs(x));
}
Tensor mish(const Tensor& x) {
  const NamedCall call("mish", x);
  return x * tanh(softplus(x));
}

Tensor leaky_relu(const Tensor& x) { return leaky_relu(x, {}); }
Tensor leaky_relu(const Tensor& x, LeakyReluOptions options) {
  const NamedCall call("leaky_relu", x);
  return where(x > 0, x, x * options.negative_slope);
}

// The exponential sees nothing above 0: its overflow would come back as 0 times infinity in the gradient.
Tensor elu(const Tensor& x) { return elu(x, {}); }
Tensor elu(const Tensor& x, EluOptions options) {
  const NamedCall call("elu", x);
  return where(x > 0, x, options.alpha * expm1(minimum(x, 0)));
}

Tensor selu(const Tensor& x) {
  const NamedCall call("selu", x);
  return 1.0507009873554805 * elu(x, {.alpha = 1.6732632423543772});
}

Tensor gelu(const Tensor& x) { return gelu(x, {}); }
Tensor gelu(const Tensor& x, GeluOptions options) {
  const NamedCall call("gelu", x);
  if (!options.approximate) return 0.5 * x * (1 + erf(x * 0.70710678118654752));
  return 0.5 * x * (1 + tanh(0.79788456080286536 * (x + 0.044715 * (x * x * x))));
}

}  // namespace anyshape
