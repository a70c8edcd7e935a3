// The step: forward, loss, backward, update and metrics as one function with one trace.
#include "graph/layer_path.h"
#include "model/model_state.h"
#include "nn/step_losses.h"
#include "nn/training_mode.h"
#include "ops/contraction/contract.h"
#include "train/loss_impl.h"

#include <anyshape/error.h>
#include <anyshape/gradient.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <array>

namespace anyshape::model {
namespace {

const Loss& loss_of(const CompileOptions& options, size_t output) { return options.losses.empty() ? options.loss : options.losses[output]; }

// The penalties of a layer's weights and its children's.
void add_penalties(const LayerState& state, Tensor& total) {
  for (const LayerState::Weight& weight : state.weights) {
    if (weight.regularizer) total = total + weight.regularizer(weight.variable);
  }
  for (const AnyLayer& child : state.children) add_penalties(child.layer()->state(), total);
}

// Targets and weights have the inputs' number of rows: said once, so that no loss has an unknown broadcast.
Batch with_equal_rows(Batch batch) {
  const Dim rows = batch.x.front().shape()[0];
  auto align = [&](Tensor& tensor) {
    if (tensor.is_ragged() || tensor.rank() == 0) return;
    Shape shape = tensor.shape();
    shape[0] = rows;
    const std::vector<std::string> names(static_cast<size_t>(shape.rank()), "the number of rows");
    tensor = with_sizes(tensor, shape, names);
  };
  for (Tensor& target : batch.y) align(target);
  if (batch.sample_weight) align(*batch.sample_weight);
  return batch;
}

// The sum of the outputs' losses, the layers' added ones and the penalties on weights; updates the metrics.
Tensor total_loss(const AnyLayer& network, const CompileOptions& options, const Batch& batch, bool training) {
  const nn::StepLosses added;
  const std::vector<Tensor> predictions = call_network(network, batch.x, training);
  if (predictions.size() != batch.y.size()) {
    throw ArgumentError(
        fmt::format("model: {} outputs and {} targets; expected one target per output.", predictions.size(), batch.y.size()));
  }
  const Tensor weight = batch.sample_weight.value_or(Tensor());
  Tensor total;
  for (size_t output = 0; output < predictions.size(); ++output) {
    const Loss& loss = loss_of(options, output);
    const ScopedLossName name(loss.name());
    Tensor own = loss(batch.y[output], predictions[output], weight);
    if (own.rank() != 0) own = mean(own);  // a user's loss may give one value per row
    if (output < options.loss_weights.size()) own = own * options.loss_weights[output];
    total = total.defined() ? total + own : own;
  }
  for (const Tensor& each : added.losses) total = total + each;
  add_penalties(network.layer()->state(), total);
  for (const Metric& metric : options.metrics) metric.update(batch.y[0], predictions[0]);
  for (const Metric& metric : options.weighted_metrics) metric.update(batch.y[0], predictions[0], weight);
  return total;
}

}  // namespace

const CompileOptions& require_compiled(const Model::State& state, const char* what) {
  if (state.compiled) return *state.compiled;
  throw ArgumentError(fmt::format("{}: the model is not compiled; expected compile({{.optimizer = ..., .loss = ...}}) before.", what));
}

std::vector<Tensor> call_network(const AnyLayer& network, const std::vector<Tensor>& inputs, bool training) {
  auto* const functional = dynamic_cast<nn::FunctionalNetwork*>(network.layer().get());
  if (functional == nullptr || functional->outputs() == 1) return {network(inputs, {.training = training})};
  const nn::ScopedTraining scope(training);
  return functional->call_all(inputs);
}

Model::State::TrainStep make_train_step(const CompileOptions& options, Shapes shapes, const Model& model) {
  if (options.step) {
    return function(
        [step = options.step, model](AnyLayer, Optimizer optimizer, Batch batch) {
          Model own = model;
          return step(own, optimizer, batch.x.at(0), batch.y.at(0));
        },
        {.name = "train_step", .shapes = shapes});
  }
  return function(
      [options](AnyLayer network, Optimizer optimizer, Batch batch) {
        GradientTape tape;
        const Tensor loss = total_loss(network, options, with_equal_rows(std::move(batch)), true);
        const std::vector<Variable> variables = network.trainable_variables();
        optimizer.apply(tape.gradient(loss, variables, {.unreached = Unreached::Zeros}), variables);
        return loss;
      },
      {.name = "train_step", .shapes = shapes});
}

Model::State::EvaluateStep make_evaluate_step(const CompileOptions& options, Shapes shapes) {
  return function(
      [options](AnyLayer network, Batch batch) { return total_loss(network, options, with_equal_rows(std::move(batch)), false); },
      {.name = "evaluate_step", .shapes = shapes});
}

Model::State::PredictStep make_predict_step(Shapes shapes) {
  return function([](AnyLayer network, std::vector<Tensor> inputs) { return call_network(network, inputs, false); },
                  {.name = "predict_step", .shapes = shapes});
}

void cast_targets(const CompileOptions& options, Batch& batch) {
  for (size_t output = 0; output < batch.y.size(); ++output) {
    const Loss& loss = loss_of(options, output);
    if (!loss.defined() || !loss.impl()->target_dtype) continue;
    if (batch.y[output].dtype() != *loss.impl()->target_dtype) batch.y[output] = cast(batch.y[output], *loss.impl()->target_dtype);
  }
}

}  // namespace anyshape::model
