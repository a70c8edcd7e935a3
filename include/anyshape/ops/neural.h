// Activations of networks, elementwise unless an axis is named. Each without options is a function value: `.activation = as::gelu`.
#pragma once
#include <anyshape/ops/reduce.h>
#include <anyshape/tensor.h>

#pragma GCC visibility push(default)
namespace anyshape {

Tensor relu(const Tensor& x);          ///< max(x, 0); the gradient at 0 is 0
Tensor relu6(const Tensor& x);         ///< min(max(x, 0), 6)
Tensor sigmoid(const Tensor& x);       ///< 1 / (1 + exp(-x))
Tensor log_sigmoid(const Tensor& x);   ///< -softplus(-x)
Tensor hard_sigmoid(const Tensor& x);  ///< relu6(x + 3) / 6
Tensor silu(const Tensor& x);          ///< x * sigmoid(x)
Tensor softplus(const Tensor& x);      ///< log(1 + exp(x))
Tensor softsign(const Tensor& x);      ///< x / (1 + |x|)
Tensor mish(const Tensor& x);          ///< x * tanh(softplus(x))
Tensor selu(const Tensor& x);          ///< elu scaled so that mean 0 and variance 1 stay

/// The slope of leaky_relu below 0.
struct LeakyReluOptions {
  double negative_slope = 0.2;
};
Tensor leaky_relu(const Tensor& x);                            ///< x, or slope * x below 0
Tensor leaky_relu(const Tensor& x, LeakyReluOptions options);  ///< with your own slope

/// The scale of elu below 0, where it goes to -alpha.
struct EluOptions {
  double alpha = 1;
};
Tensor elu(const Tensor& x);                      ///< x, or alpha * (exp(x) - 1) below 0
Tensor elu(const Tensor& x, EluOptions options);  ///< with your own alpha

/// Whether gelu is exact.
struct GeluOptions {
  bool approximate = false;  ///< by tanh instead of erf
};
Tensor gelu(const Tensor& x);                       ///< x * (1 + erf(x / sqrt(2))) / 2
Tensor gelu(const Tensor& x, GeluOptions options);  ///< approximate: x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2

Tensor logsumexp(const Tensor& x);                         ///< log(sum(exp(x))) without overflow; of nothing -infinity
Tensor logsumexp(const Tensor& x, ReduceOptions options);  ///< along the axes that are named

}  // namespace anyshape
#pragma GCC visibility pop
