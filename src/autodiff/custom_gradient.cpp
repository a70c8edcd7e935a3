// custom_gradient: the forward callable runs behind the tapes, which then see the call as one op whose gradient is the user's.
#include "autodiff/fitted_gradient.h"
#include "graph/bind.h"
#include "graph/trace_scope.h"
#include "tensor/view.h"

#include <anyshape/custom_gradient.h>
#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

struct CustomGradientAttrs {
  std::shared_ptr<const detail::CustomGradientRule> rule;
  template <class V>
  void visit(V&) {}
};

std::vector<Tensor> gradient(const GradientCall& call) {
  const detail::CustomGradientRule& rule = *call.attrs.as<CustomGradientAttrs>().rule;
  std::vector<Tensor> gradients = rule.gradient({.inputs = call.inputs, .outputs = call.outputs, .output_gradients = call.dys});
  if (gradients.size() != call.inputs.size()) {
    throw ArgumentError(
        fmt::format("{}: the gradient callable returned {} tensors for {} inputs; expected one per input, an empty handle "
                    "where nothing flows.",
                    rule.name, gradients.size(), call.inputs.size()));
  }
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined() || !call.needed[i]) continue;
    gradients[i] = fitted_gradient(rule.name, fmt::format("gradient {}", i), gradients[i], fmt::format("input {}", i), call.inputs[i]);
  }
  return gradients;
}

// Only tapes meet it, so it has no rules but this one.
constinit const OpDef custom_gradient_op{.name = "custom_gradient", .kind = OpKind::Control, .inputs = -1, .gradient = gradient};

std::vector<Tensor> run_forward(const std::shared_ptr<const detail::CustomGradientRule>& rule, std::span<const Tensor> inputs,
                                const std::function<std::vector<Tensor>()>& forward) {
  Interpreter& interpreter = current_interpreter();
  std::vector<Tensor> outputs;
  {
    const ScopedInterpreter unseen(interpreter.unrecorded());
    outputs = run_scope([&]() -> FunctionResults { return {forward()}; }).tensors;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined())
      throw ArgumentError(
          fmt::format("{}: result {} of the forward callable is an empty tensor handle; expected a tensor.", rule->name, i));
    outputs[i] = another_handle(outputs[i]);  // an input returned as it came is not the input for a tape
  }
  interpreter.follow(custom_gradient_op, inputs, CustomGradientAttrs{rule}, outputs);
  return outputs;
}

}  // namespace

std::vector<Tensor> detail::call_with_gradient(const std::shared_ptr<const detail::CustomGradientRule>& rule,
                                               const std::vector<Tensor>& inputs, const std::function<std::vector<Tensor>()>& forward) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined())
      throw ArgumentError(fmt::format("{}: argument {} is an empty tensor handle; expected a tensor with a value.", rule->name, i));
    if (is_traced(inputs[i])) current_interpreter().require_own(rule->name, inputs[i]);
  }
  return run_scope([&]() -> FunctionResults { return {run_forward(rule, inputs, forward)}; }).tensors;
}

}  // namespace anyshape
