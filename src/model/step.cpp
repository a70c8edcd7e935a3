// The step: forward, loss, backward, update and metrics as one function with one trace.
#include "graph/layer_path.h"
#include "model/model_state.h"
#include "model/trained_weights.h"
#include "nn/step_losses.h"
#include "ops/contraction/contract.h"
#include "train/loss_impl.h"

#include <anyshape/error.h>
#include <anyshape/gradient.h>
#include <anyshape/ops.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace anyshape::model {
namespace {

// The penalties of a layer's weights and its children's: of those that are left, so that a shared layer counts once.
void add_penalties(const LayerState& state, std::set<uint64_t>& left, Dtype dtype, Tensor& total) {
  for (const LayerState::Weight& weight : state.weights) {
    if (!weight.regularizer || left.erase(weight.variable.id()) == 0) continue;
    const Tensor own = cast(weight.regularizer(weight.variable), dtype);
    total = total.defined() ? total + own : own;
  }
  for (const AnyLayer& child : state.children) add_penalties(child.layer()->state(), left, dtype, total);
}

// Of the weights that are trained: others have none, as in Keras. Undefined where there are no penalties.
Tensor penalties(const AnyLayer& network, Dtype dtype) {
  std::set<uint64_t> trained;
  for (const Variable& variable : network.trainable_variables()) trained.insert(variable.id());
  Tensor total;
  add_penalties(network.layer()->state(), trained, dtype, total);
  return total;
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
  for (Tensor& weight : batch.sample_weight) align(weight);
  return batch;
}

Tensor weight_of(const Batch& batch, size_t output) {
  if (batch.sample_weight.empty()) return {};
  return batch.sample_weight.size() == 1 ? batch.sample_weight[0] : batch.sample_weight.at(output);
}

train::WeighedLoss one_loss(const Loss& loss, const Tensor& target, const Tensor& prediction, const Tensor& weight) {
  if (!loss.defined()) throw ArgumentError("model: it has no loss; expected .loss or .losses in compile().");
  const ScopedLossName caller(loss.name());
  return train::weighed_loss(*loss.impl(), target, prediction, weight);
}

void require_outputs(const Compiled& compiled, size_t outputs, size_t targets) {
  const bool is_as_named = outputs == compiled.network_outputs;
  const size_t trained = is_as_named ? compiled.outputs.size() : outputs;
  if (trained != targets) {
    throw ArgumentError(fmt::format("model: {} output{} and {} target{}; expected one target per output.", trained, trained == 1 ? "" : "s",
                                    targets, targets == 1 ? "" : "s"));
  }
  if (is_as_named) return;
  throw ArgumentError(fmt::format(
      "model: it gives {} outputs and names {}; expected output_names() with a name for each. Losses and metrics are known by them.",
      outputs, compiled.outputs[0].empty() ? 0 : compiled.network_outputs));
}

// The outputs' losses and what layers add to them, without penalties on weights; updates the metrics.
LossParts loss_parts(const AnyLayer& network, const Compiled& compiled, const Batch& batch, bool training) {
  const nn::StepLosses added;
  const Outputs predictions = network.outputs(batch.x, {.training = training});
  require_outputs(compiled, predictions.size(), batch.y.size());
  LossParts parts{.outputs = {}, .weights = compiled.loss_weights, .added = {}};
  for (size_t output = 0; output < batch.y.size(); ++output) {
    const Tensor& prediction = predictions.tensors()[compiled.positions[output]];
    parts.outputs.push_back(one_loss(compiled.losses[output], batch.y[output], prediction, weight_of(batch, output)));
  }
  for (const Tensor& each : added.losses) {
    const Tensor own = each.rank() == 0 ? each : sum(each);
    parts.added = parts.added.defined() ? parts.added + own : own;
  }
  for (OutputMetric each : compiled.metrics) {  // a handle: what is held by the step stays as it is
    const Tensor& prediction = predictions.tensors()[compiled.positions[each.output]];
    each.metric.update(batch.y[each.output], prediction, each.is_weighted ? weight_of(batch, each.output) : Tensor());
  }
  return parts;
}

// The loss with its penalties; the parts are left for the epoch's mean.
Tensor finished(LossParts parts, const Tensor& loss, const Tensor& penalty, PartsReport& report) {
  if (penalty.defined()) parts.added = parts.added.defined() ? parts.added + cast(penalty, parts.added.dtype()) : penalty;
  report.leave(parts);
  return penalty.defined() ? loss + penalty : loss;
}

// One gradient per variable, where some may come from one side only, or from none.
std::vector<Tensor> summed(const std::vector<Tensor>& of_loss, const std::vector<Tensor>& of_penalty,
                           const std::vector<Variable>& variables) {
  std::vector<Tensor> gradients;
  for (size_t i = 0; i < variables.size(); ++i) {
    const Tensor& own = of_loss[i];
    const Tensor extra = of_penalty.empty() ? Tensor() : of_penalty[i];
    if (own.defined() && extra.defined()) {
      gradients.push_back(own + extra);
    } else if (own.defined() || extra.defined()) {
      gradients.push_back(own.defined() ? own : extra);
    } else {
      gradients.push_back(zeros(variables[i].shape(), {.dtype = variables[i].dtype()}));
    }
  }
  return gradients;
}

// Penalties have a tape of their own: a weight that is only drawn to 0 is not trained.
Tensor train(const AnyLayer& network, const Compiled& compiled, Optimizer& optimizer, const Batch& batch, PartsReport& report,
             Warned& warned) {
  const std::vector<Variable> variables = network.trainable_variables();
  GradientTape tape;
  const LossParts parts = loss_parts(network, compiled, batch, true);
  const Tensor loss = parts.total();
  const std::vector<Tensor> reached = tape.gradient(loss, variables, {.unreached = Unreached::Undefined});
  require_trained(network, variables, reached, tape.watched_variables(), warned);
  GradientTape penalty_tape;
  const Tensor penalty = penalties(network, loss.dtype());
  std::vector<Tensor> of_penalty;
  if (penalty.defined()) of_penalty = penalty_tape.gradient(penalty, variables, {.unreached = Unreached::Undefined});
  optimizer.apply(summed(reached, of_penalty, variables), variables);
  return finished(parts, loss, penalty, report);
}

Model::State::TrainStep own_train_step(const std::shared_ptr<Model::State>& state) {
  return function(
      [step = state->compiled->step, report = state->train_parts, held = std::weak_ptr(state), warned = std::make_shared<Warned>()](
          AnyLayer network, Optimizer optimizer, Batch batch) {
        warn_of_no_weights(network, *warned);
        Model model = Model::State::handle(network, held);
        StepResult result = step(model, optimizer, batch);
        report->leave(result.metrics);
        return std::move(result.loss);
      },
      {.name = "train_step", .shapes = state->shapes});
}

}  // namespace

const Compiled& require_compiled(const Model& model, const char* what) {
  const Model::State& state = Model::State::of(model, what);
  if (state.compiled) return *state.compiled;
  if (!state.not_saved.empty()) {
    throw ArgumentError(
        fmt::format("{}: the model is not compiled: the file that it was loaded from has not {}; expected compile() with these and the "
                    "other options. After "
                    "that, .resume_from of fit takes the optimizer's state from the file.",
                    what, fmt::join(state.not_saved, ", nor ")));
  }
  throw ArgumentError(fmt::format("{}: the model is not compiled; expected compile({{.optimizer = ..., .loss = ...}}) before.", what));
}

Model::State::TrainStep make_train_step(const std::shared_ptr<Model::State>& state) {
  if (state->compiled->step) return own_train_step(state);
  return function([compiled = *state->compiled, report = state->train_parts, warned = std::make_shared<Warned>()](
                      AnyLayer network, Optimizer optimizer,
                      Batch batch) { return train(network, compiled, optimizer, with_equal_rows(std::move(batch)), *report, *warned); },
                  {.name = "train_step", .shapes = state->shapes});
}

Evaluation::Step make_evaluate_step(const Compiled& compiled, const std::shared_ptr<PartsReport>& parts, Shapes shapes) {
  return function(
      [compiled, report = parts](AnyLayer network, Batch batch) {
        const LossParts own = loss_parts(network, compiled, with_equal_rows(std::move(batch)), false);
        const Tensor loss = own.total();
        return finished(own, loss, penalties(network, loss.dtype()), *report);
      },
      {.name = "evaluate_step", .shapes = shapes});
}

Model::State::PredictStep make_predict_step(Shapes shapes) {
  return function([](AnyLayer network, std::vector<Tensor> inputs) { return network.outputs(inputs, {.training = false}).tensors(); },
                  {.name = "predict_step", .shapes = shapes});
}

// The dtype of a network's result: its last layer's.
static Dtype result_dtype(const AnyLayer& network) {
  const std::vector<AnyLayer>& children = network.layer()->state().children;
  return children.empty() ? network.dtype() : result_dtype(children.back());
}

Tensor cast_target(const AnyLayer& network, const Compiled& compiled, size_t output, const Tensor& target) {
  const Loss loss = compiled.loss_of(output);
  if (!loss.defined() || loss.impl()->callable) return target;
  const Dtype wanted = loss.impl()->target_dtype().value_or(result_dtype(network));
  return target.dtype() == wanted ? target : cast(target, wanted);
}

}  // namespace anyshape::model

anyshape::StepResult anyshape::StepFunction::operator()(Model& model, Optimizer& optimizer, const Batch& batch) const {
  if (step_) return step_(model, optimizer, batch);
  if (batch.x.size() != 1 || batch.y.size() != 1 || !batch.sample_weight.empty()) {
    throw ArgumentError(
        fmt::format("fit: a .step on (x, y) takes one input and one target; got {} and {}{}; expected a step on the batch: "
                    "(Model&, Optimizer&, const Batch&).",
                    batch.x.size(), batch.y.size(), batch.sample_weight.empty() ? "" : ", and weights"));
  }
  return pair_(model, optimizer, batch.x[0], batch.y[0]);
}
