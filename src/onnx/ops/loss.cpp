// ONNX's losses: scores or log probabilities [batch, classes, ...] and classes [batch, ...].
#include "onnx/rule.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape::onnx {
namespace {

Tensor log_loss(NodeCall& call, const Tensor& log_probabilities) {
  const Tensor target = call.tensor(1);
  const std::string reduction = call.text("reduction", "mean");
  const bool ignores = call.has("ignore_index");
  const Tensor is_ignored = ignores ? target == call.integer("ignore_index") : Tensor();
  const Tensor index = ignores ? where(is_ignored, 0, target) : target;
  Tensor loss = -squeeze(take_along_axis(log_probabilities, expand_dims(index, 1), {.axis = 1}), 1);
  Tensor weight = call.has(2) ? take(call.tensor(2), index) : Tensor();
  if (ignores) weight = weight.defined() ? where(is_ignored, 0, weight) : cast(logical_not(is_ignored), loss.dtype());
  // What is ignored counts 0 even where its probability is 0.
  if (weight.defined()) loss = ignores ? where(is_ignored, 0, weight * loss) : weight * loss;
  if (reduction == "none") return loss;
  if (reduction == "sum") return sum(loss);
  if (reduction != "mean") call.fail(fmt::format("reduction is \"{}\"", reduction), "none, sum or mean");
  return weight.defined() ? sum(loss) / sum(weight) : mean(loss);
}

Results likelihood_rule(NodeCall& call) { return log_loss(call, call.tensor(0)); }

Results cross_entropy_rule(NodeCall& call) {
  const Tensor log_probabilities = log_softmax(call.tensor(0), {.axis = 1});
  return {log_loss(call, log_probabilities), log_probabilities};
}

constexpr RuleEntry entries[] = {{"NegativeLogLikelihoodLoss", 12, likelihood_rule}, {"SoftmaxCrossEntropyLoss", 12, cross_entropy_rule}};

}  // namespace

const RuleTable loss_rules = entries;

}  // namespace anyshape::onnx
