// ONNX's activations.
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {
namespace {

constexpr RuleOptions elementwise{.is_elementwise = true};

template <Tensor (*op)(const Tensor&)>
Results function(NodeCall& call) {
  return op(call.tensor(0));
}

Results leaky_relu_rule(NodeCall& call) { return leaky_relu(call.tensor(0), {.negative_slope = call.number("alpha", 0.01F)}); }
Results elu_rule(NodeCall& call) { return elu(call.tensor(0), {.alpha = call.number("alpha", 1)}); }
Results gelu_rule(NodeCall& call) {
  const std::string approximate = call.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh") call.fail("approximate is \"" + approximate + "\"", "none or tanh");
  return gelu(call.tensor(0), {.approximate = approximate == "tanh"});
}

Results prelu_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  return Value(where(x < 0, x * call.tensor(1), x), call.type(0));
}

Results selu_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const double alpha = call.number("alpha", 1.67326319217681884765625), gamma = call.number("gamma", 1.05070102214813232421875);
  return gamma * elu(x, {.alpha = alpha});
}

Results celu_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const double alpha = call.number("alpha", 1);
  return where(x <= 0, alpha * expm1(minimum(x, 0) / alpha), x);
}

Results hard_sigmoid_rule(NodeCall& call) {
  const double alpha = call.number("alpha", 0.2F), beta = call.number("beta", 0.5);
  return clip(alpha * call.tensor(0) + beta, 0, 1);
}

Results hard_swish_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  return x * hard_sigmoid(x);
}

Results swish_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const double alpha = call.number("alpha", call.op() == "QuickGelu" ? 1.702F : 1.0F);
  return alpha == 1 ? silu(x) : x * sigmoid(alpha * x);
}

Results swiglu_rule(NodeCall& call) {
  const Tensor gate = call.tensor(0);
  const double alpha = call.number("alpha", 1);
  return gate * sigmoid(alpha * gate) * call.tensor(1);
}

Results thresholded_relu_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  return where(x <= call.number("alpha", 1), 0, x);
}

Results shrink_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const double bias = call.number("bias", 0), limit = call.number("lambd", 0.5);
  return Value(cast(where(x < -limit, x + bias, where(x > limit, x - bias, 0)), x.dtype()), call.type(0));
}

constexpr RuleEntry entries[] = {
    {"Relu", 6, function<relu>, elementwise},
    {"LeakyRelu", 6, leaky_relu_rule, elementwise},
    {"PRelu", 7, prelu_rule, elementwise},
    {"Elu", 6, elu_rule, elementwise},
    {"Selu", 6, selu_rule, elementwise},
    {"Celu", 12, celu_rule, elementwise},
    {"Sigmoid", 6, function<sigmoid>, elementwise},
    {"HardSigmoid", 6, hard_sigmoid_rule, elementwise},
    {"HardSwish", 14, hard_swish_rule, elementwise},
    {"Softplus", 1, function<softplus>, elementwise},
    {"Softsign", 1, function<softsign>, elementwise},
    {"Mish", 18, function<mish>, elementwise},
    {"Gelu", 20, gelu_rule, elementwise},
    {"Swish", 24, swish_rule, elementwise},
    {"SwiGLU", 28, swiglu_rule, elementwise},
    {"ThresholdedRelu", 10, thresholded_relu_rule, elementwise},
    {"Shrink", 9, shrink_rule, elementwise},
    {"Gelu", 1, function<gelu>, elementwise, "com.microsoft"},
    {"QuickGelu", 1, swish_rule, elementwise, "com.microsoft"},
};

}  // namespace

const RuleTable activation_rules = entries;

}  // namespace anyshape::onnx
