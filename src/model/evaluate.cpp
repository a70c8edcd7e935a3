// evaluate, predict and train_on_batch.
#include "model/evaluate.h"

#include "model/epoch_scores.h"
#include "model/prepare.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {

std::optional<Scores> model::evaluate_batches(const char* what, const Model& model, const Model::State& state, Batches& batches,
                                              Progress* progress, const std::function<bool()>& is_stopped) {
  const CompileOptions& compiled = *state.compiled;
  EpochScores scores(compiled);
  batches.restart();
  int64_t steps = 0;
  while (std::optional<Batch> batch = batches.next()) {
    const int64_t rows = row_count(batch->x.front());
    scores.add(run_step(*state.evaluate_step, compiled.run_eagerly, model, *batch).item<double>(), rows);
    ++steps;
    if (progress != nullptr && progress->is_due()) progress->show(steps, scores.so_far());
    if (is_stopped && is_stopped()) return std::nullopt;
  }
  if (steps == 0) throw DataError(fmt::format("{}: the data has no batch; expected at least one.", what));
  if (progress != nullptr) progress->end(steps, scores.so_far());
  return scores.so_far();
}

namespace {

using model::Batches;

Scores evaluate_all(const Model& model, const std::shared_ptr<Model::State>& state, Batches& batches, Verbose verbose) {
  model::prepare_model(model, state, state->shapes, batches.sample());
  model::Progress progress(verbose);
  progress.begin("Evaluating", batches.steps());
  return *model::evaluate_batches("evaluate", model, *state, batches, &progress, {});
}

Tensor predict_all(const Model& model, const std::shared_ptr<Model::State>& state, Batches& batches, Verbose verbose) {
  model::prepare_model(model, state, state->shapes, batches.sample());
  model::Progress progress(verbose);
  std::vector<Tensor> parts;
  batches.restart();
  progress.begin("Predicting", batches.steps());
  const bool run_eagerly = state->compiled && state->compiled->run_eagerly;
  while (std::optional<Batch> batch = batches.next()) {
    std::vector<Tensor> results = model::run_step(*state->predict_step, run_eagerly, model, batch->x);
    if (results.size() != 1) {
      throw ArgumentError(
          fmt::format("predict: the model has {} outputs; expected one. Make a Model of the output that is wanted.", results.size()));
    }
    parts.push_back(std::move(results[0]));
    if (progress.is_due()) progress.show(static_cast<int64_t>(parts.size()), {});
  }
  if (parts.empty()) throw DataError("predict: the data has no batch; expected at least one.");
  progress.end(static_cast<int64_t>(parts.size()), {});
  return parts.size() == 1 ? parts[0] : concat(parts, {.axis = 0});
}

}  // namespace

Scores Model::evaluate(const Data& x, const Data& y, EvaluateOptions options) const {
  const CompileOptions& compiled = model::require_compiled(*this, "evaluate");
  const auto batches =
      model::array_batches({"evaluate", *this, &compiled}, x, y, options.sample_weight, {.batch_size = options.batch_size});
  return evaluate_all(*this, state_, *batches, options.verbose);
}

Scores Model::evaluate(const Dataset& data, EvaluateOptions options) const {
  const CompileOptions& compiled = model::require_compiled(*this, "evaluate");
  if (options.sample_weight.defined()) {
    throw ArgumentError("evaluate: sample_weight needs tensors; expected the weights in the dataset.");
  }
  return evaluate_all(*this, state_, *model::dataset_batches({"evaluate", *this, &compiled}, data), options.verbose);
}

Tensor Model::predict(const Data& x, PredictOptions options) const {
  State::of(*this, "predict");
  const auto batches = model::array_batches({"predict", *this, nullptr}, x, {}, {}, {.batch_size = options.batch_size});
  return predict_all(*this, state_, *batches, options.verbose);
}

Tensor Model::predict(const Dataset& data, PredictOptions options) const {
  State::of(*this, "predict");
  return predict_all(*this, state_, *model::dataset_batches({"predict", *this, nullptr}, data), options.verbose);
}

Scores Model::train_on_batch(const Data& x, const Data& y) const {
  const CompileOptions& compiled = model::require_compiled(*this, "train_on_batch");
  const auto batches = model::array_batches({"train_on_batch", *this, &compiled}, x, y, {},
                                            {.batch_size = std::max<int64_t>(1, model::row_count("train_on_batch", x))});
  model::prepare_model(*this, state_, state_->shapes, batches->sample());
  batches->restart();
  model::EpochScores scores(compiled);
  scores.add(model::run_step(*state_->train_step, compiled.run_eagerly, *this, compiled.optimizer, *batches->next()).item<double>(), 1);
  return scores.so_far();
}

}  // namespace anyshape
