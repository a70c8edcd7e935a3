// ONNX's activations.
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {
namespace {

constexpr RuleOptions elementwise{.is_elementwise = true};

Results relu_rule(NodeCall& call) { return relu(call.tensor(0)); }
Results sigmoid_rule(NodeCall& call) { return sigmoid(call.tensor(0)); }
Results leaky_relu_rule(NodeCall& call) { return leaky_relu(call.tensor(0), {.negative_slope = call.number("alpha", 0.01)}); }

constexpr RuleEntry entries[] = {
    {"Relu", 6, relu_rule, elementwise},
    {"Sigmoid", 6, sigmoid_rule, elementwise},
    {"LeakyRelu", 6, leaky_relu_rule, elementwise},
};

}  // namespace

const RuleTable activation_rules = entries;

}  // namespace anyshape::onnx
