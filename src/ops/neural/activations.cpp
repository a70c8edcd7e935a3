// Activations made of other ops: in a function they fuse into the kernels around them, and their gradients follow from the parts.
#include "graph/named_call.h"
#include "ops/numbers.h"

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
  return in_f32(x, [](const Tensor& numbers) { return relu6(numbers + 3) / 6; });
}
Tensor silu(const Tensor& x) {
  const NamedCall call("silu", x);
  return in_f32(x, [](const Tensor& numbers) { return numbers * sigmoid(numbers); });
}
Tensor softsign(const Tensor& x) {
  const NamedCall call("softsign", x);
  return in_f32(x, [](const Tensor& numbers) { return numbers / (1 + abs(numbers)); });
}
Tensor mish(const Tensor& x) {
  const NamedCall call("mish", x);
  return in_f32(x, [](const Tensor& numbers) { return numbers * tanh(softplus(numbers)); });
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
  return in_f32(x, [&](const Tensor& numbers) { return where(numbers > 0, numbers, options.alpha * expm1(minimum(numbers, 0))); });
}

// At 0 the slope of the numbers above it, as in TensorFlow; elu with an alpha of its own takes the one below, as in Keras.
Tensor selu(const Tensor& x) {
  const NamedCall call("selu", x);
  return in_f32(x, [](const Tensor& numbers) {
    return 1.0507009873554805 * where(numbers >= 0, numbers, 1.6732632423543772 * expm1(minimum(numbers, 0)));
  });
}

}  // namespace anyshape
