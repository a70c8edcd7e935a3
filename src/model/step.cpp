// The step: forward, loss, backward, update and metrics as one function with one trace.
#include "model/model_state.h"
#include "nn/step_losses.h"
#include "nn/training_mode.h"
#include "ops/contraction/contract.h"
#include "train/loss_impl.h"

#include <anyshape/error.h>
#include <anyshape/gradient.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <set>

namespace anyshape::model {
namespace {

// The penalties of a layer's weights and its children's: of those that are left, so that a shared layer counts once.
void add_penalties(const LayerState& state, std::set<uint64_t>& left, Tensor& total) {
  for (const LayerState::Weight& weight : state.weights) {
    if (weight.regularizer && left.erase(weight.variable.id()) > 0) {
      total = total + cast(weight.regularizer(weight.variable), total.dtype());
    }
  }
  for (const AnyLayer& child : state.children) add_penalties(child.layer()->state(), left, total);
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

// A user's loss may give one value per row: those are weighted and averaged as a built-in one's.
Tensor one_loss(const CompileOptions& options, size_t output, const Tensor& target, const Tensor& prediction, const Tensor& weight) {
  const Loss& loss = loss_of(options, output);
  if (!loss.defined()) throw ArgumentError("model: it has no loss; expected .loss or .losses in compile().");
  Tensor own = loss(target, prediction, weight);
  if (own.rank() != 0) own = mean(own);
  return output < options.loss_weights.size() ? own * options.loss_weights[output] : own;
}

void update_metrics(const std::vector<Metric>& metrics, const Batch& batch, const std::vector<Tensor>& predictions, const Tensor& weight) {
  const size_t outputs = predictions.size();
  for (size_t i = 0; i < metrics.size(); ++i) metrics[i].update(batch.y[i % outputs], predictions[i % outputs], weight);
}

// The sum of the outputs' losses, the layers' added ones and the penalties on weights; updates the metrics.
Tensor total_loss(const AnyLayer& network, const CompileOptions& options, const Batch& batch, bool training) {
  const nn::StepLosses added;
  const std::vector<Tensor> predictions = call_network(network, batch.x, training);
  if (predictions.size() != batch.y.size()) {
    throw ArgumentError(fmt::format("model: {} output{} and {} target{}; expected one target per output.", predictions.size(),
                                    predictions.size() == 1 ? "" : "s", batch.y.size(), batch.y.size() == 1 ? "" : "s"));
  }
  const Tensor weight = batch.sample_weight.value_or(Tensor());
  Tensor total = one_loss(options, 0, batch.y[0], predictions[0], weight);
  for (size_t output = 1; output < predictions.size(); ++output)
    total = total + one_loss(options, output, batch.y[output], predictions[output], weight);
  for (const Tensor& each : added.losses) total = total + (each.rank() == 0 ? each : sum(each));
  std::set<uint64_t> trained;  // weights that are not have no penalty, as in Keras
  for (const Variable& variable : network.trainable_variables()) trained.insert(variable.id());
  add_penalties(network.layer()->state(), trained, total);
  update_metrics(options.metrics, batch, predictions, {});
  update_metrics(options.weighted_metrics, batch, predictions, weight);
  return total;
}

Model::State::TrainStep own_train_step(const std::shared_ptr<Model::State>& state) {
  return function(
      [step = state->compiled->step, held = std::weak_ptr(state)](AnyLayer network, Optimizer optimizer, Batch batch) {
        if (batch.x.size() != 1 || batch.y.size() != 1 || batch.sample_weight) {
          throw ArgumentError(fmt::format("fit: a .step of your own takes one input and one target; got {} and {}{}.", batch.x.size(),
                                          batch.y.size(), batch.sample_weight ? ", and weights" : ""));
        }
        Model model = Model::State::handle(network, held);
        return step(model, optimizer, batch.x[0], batch.y[0]);
      },
      {.name = "train_step", .shapes = state->shapes});
}

}  // namespace

const CompileOptions& require_compiled(const Model& model, const char* what) {
  const Model::State& state = Model::State::of(model, what);
  if (state.compiled) return *state.compiled;
  throw ArgumentError(fmt::format("{}: the model is not compiled; expected compile({{.optimizer = ..., .loss = ...}}) before.", what));
}

std::vector<Tensor> call_network(const AnyLayer& network, const std::vector<Tensor>& inputs, bool training) {
  auto* const functional = dynamic_cast<nn::FunctionalNetwork*>(network.layer().get());
  if (functional == nullptr || functional->outputs() == 1) return {network(inputs, {.training = training})};
  const nn::ScopedTraining scope(training);
  return functional->call_all(inputs);
}

Model::State::TrainStep make_train_step(const std::shared_ptr<Model::State>& state) {
  if (state->compiled->step) return own_train_step(state);
  return function(
      [options = *state->compiled](AnyLayer network, Optimizer optimizer, Batch batch) {
        GradientTape tape;
        const Tensor loss = total_loss(network, options, with_equal_rows(std::move(batch)), true);
        const std::vector<Variable> variables = network.trainable_variables();
        optimizer.apply(tape.gradient(loss, variables, {.unreached = Unreached::Zeros}), variables);
        return loss;
      },
      {.name = "train_step", .shapes = state->shapes});
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

const Loss& loss_of(const CompileOptions& options, size_t output) {
  return output < options.losses.size() ? options.losses[output] : options.loss;
}

// The dtype of a network's result: its last layer's.
static Dtype result_dtype(const AnyLayer& network) {
  const std::vector<AnyLayer>& children = network.layer()->state().children;
  return children.empty() ? network.dtype() : result_dtype(children.back());
}

Tensor cast_target(const AnyLayer& network, const CompileOptions& options, size_t output, const Tensor& target) {
  const Loss& loss = loss_of(options, output);
  if (!loss.defined() || loss.impl()->callable) return target;
  const Dtype wanted = loss.impl()->target_dtype().value_or(result_dtype(network));
  return target.dtype() == wanted ? target : cast(target, wanted);
}

}  // namespace anyshape::model
