// ONNX's steps of training: a step's rate and number, then parameters, gradients and what is kept of each.
#include "onnx/rule.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape::onnx {
namespace {

constexpr std::string_view training = "ai.onnx.preview.training";

// Inputs behind the first two stand in `kinds` groups of equal number: parameters, gradients, slots.
struct Step {
  Step(NodeCall& call, size_t kinds) : rate(call.tensor(0)), count(call.tensor(1)), call(call) {
    if (call.inputs() < 2 + kinds || (call.inputs() - 2) % kinds != 0) {
      call.fail(fmt::format("it has {} inputs", call.inputs()), fmt::format("two, and {} for each parameter", kinds));
    }
    parameters = (call.inputs() - 2) / kinds;
  }
  Tensor of(size_t kind, size_t parameter) const { return call.tensor(2 + kind * parameters + parameter); }
  // With the slope of the penalty on large numbers.
  Tensor gradient(size_t parameter) const { return call.number("norm_coefficient", 0) * of(0, parameter) + of(1, parameter); }
  Tensor is_first() const { return count == 0; }

  const Tensor rate, count;
  NodeCall& call;
  size_t parameters = 0;
};

// New parameters first, then each kind of slot.
Results in_groups(const std::vector<std::vector<Tensor>>& kinds) {
  std::vector<Tensor> all;
  for (const std::vector<Tensor>& kind : kinds) all.insert(all.end(), kind.begin(), kind.end());
  return Results(all);
}

Results adagrad_rule(NodeCall& call) {
  const Step step(call, 3);
  const Tensor rate = step.rate / (1 + cast(step.count, step.rate.dtype()) * call.number("decay_factor", 0));
  std::vector<std::vector<Tensor>> results(2);
  for (size_t i = 0; i < step.parameters; ++i) {
    const Tensor gradient = step.gradient(i), squares = step.of(2, i) + square(gradient);
    results[0].push_back(step.of(0, i) - rate * gradient / (sqrt(squares) + call.number("epsilon", 1e-6F)));
    results[1].push_back(squares);
  }
  return in_groups(results);
}

Results adam_rule(NodeCall& call) {
  const Step step(call, 4);
  const double alpha = call.number("alpha", 0.9F), beta = call.number("beta", 0.999F), after = call.number("norm_coefficient_post", 0);
  const Tensor count = cast(step.count, step.rate.dtype());
  const Tensor corrected = step.rate * sqrt(1 - pow(beta, count)) / (1 - pow(alpha, count)), rate = where(step.is_first(), step.rate, corrected);
  std::vector<std::vector<Tensor>> results(3);
  for (size_t i = 0; i < step.parameters; ++i) {
    const Tensor gradient = step.gradient(i);
    const Tensor mean = alpha * step.of(2, i) + (1 - alpha) * gradient, squares = beta * step.of(3, i) + (1 - beta) * square(gradient);
    results[0].push_back((1 - after) * (step.of(0, i) - rate * mean / (sqrt(squares) + call.number("epsilon", 1e-6F))));
    results[1].push_back(mean);
    results[2].push_back(squares);
  }
  return in_groups(results);
}

Results momentum_rule(NodeCall& call) {
  const Step step(call, 3);
  const std::string mode = call.text("mode", "standard");
  if (mode != "standard" && mode != "nesterov") call.fail(fmt::format("mode is \"{}\"", mode), "standard or nesterov");
  const double alpha = call.number("alpha", 0), beta = call.number("beta", 1);
  const Tensor share = where(step.is_first(), 1.0F, full({}, beta, {.dtype = step.rate.dtype()}));
  std::vector<std::vector<Tensor>> results(2);
  for (size_t i = 0; i < step.parameters; ++i) {
    const Tensor gradient = step.gradient(i), moved = alpha * step.of(2, i) + share * gradient;
    results[0].push_back(step.of(0, i) - step.rate * (mode == "nesterov" ? gradient + alpha * moved : moved));
    results[1].push_back(moved);
  }
  return in_groups(results);
}

constexpr RuleEntry entries[] = {
    {"Adagrad", 1, adagrad_rule, {}, training}, {"Adam", 1, adam_rule, {}, training}, {"Momentum", 1, momentum_rule, {}, training}};

}  // namespace

const RuleTable training_rules = entries;

}  // namespace anyshape::onnx
