// fit, evaluate, predict and train_on_batch: loops around the compiled steps.
#include "model/batches.h"
#include "model/interrupt.h"
#include "model/model_state.h"
#include "model/progress.h"
#include "model/validate.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

using model::Batches;

// Running means of an epoch: the loss weighted by rows, and the metrics' own sums.
class EpochScores {
 public:
  explicit EpochScores(const CompileOptions& options) : options_(options) {
    for (const Metric& metric : options.metrics) metric.reset();
    for (const Metric& metric : options.weighted_metrics) metric.reset();
  }
  void add(double loss, int64_t rows) {
    total_ += loss * static_cast<double>(rows);
    rows_ += rows;
  }
  Scores so_far() const {
    Scores scores;
    scores.set("loss", rows_ == 0 ? 0 : total_ / static_cast<double>(rows_));
    for (const Metric& metric : options_.metrics) scores.set(metric.name(), metric.result().item<double>());
    for (const Metric& metric : options_.weighted_metrics) scores.set(metric.name(), metric.result().item<double>());
    return scores;
  }

 private:
  const CompileOptions& options_;
  double total_ = 0;
  int64_t rows_ = 0;
};

class Fit {
 public:
  Fit(const Model& model, Model::State& state, const FitOptions& options)
      : model_(model),
        state_(state),
        compiled_(model::require_compiled(state, "fit")),
        options_(options),
        progress_(options.verbose, options.epochs) {
    if (options.epochs < 1) throw ArgumentError(fmt::format("fit: epochs is {}; expected at least 1.", options.epochs));
  }

  History run(Batches& batches, Batches* validation) {
    const model::InterruptScope interrupt;
    state_.stop = false;
    for (const AnyCallback& callback : options_.callbacks) callback->on_train_begin(model_);
    for (int64_t epoch = 0; epoch < options_.epochs && !is_stopped(); ++epoch) run_epoch(epoch, batches, validation);
    for (const AnyCallback& callback : options_.callbacks) callback->on_train_end(model_, history_);
    return std::move(history_);
  }

 private:
  bool is_stopped() const { return state_.stop || model::InterruptScope::is_requested(); }

  void run_epoch(int64_t epoch, Batches& batches, Batches* validation) {
    for (const AnyCallback& callback : options_.callbacks) callback->on_epoch_begin(model_, epoch);
    batches.restart(epoch);
    progress_.begin_epoch(epoch, batches.steps());
    EpochScores scores(compiled_);
    int64_t steps = 0;
    for (;;) {
      const int64_t first_row = batches.rows_before();
      std::optional<Batch> batch = batches.next();
      if (!batch) break;
      run_step(*batch, steps, first_row, scores);
      ++steps;
      if (progress_.is_due()) progress_.show(steps, scores.so_far());
      if (is_stopped()) break;
    }
    if (steps == 0) throw DataError("fit: the data has no batch; expected at least one.");
    Scores result = scores.so_far();
    if (validation != nullptr) {
      const Scores validated = evaluate(*validation);
      for (const auto& [name, value] : validated.all()) result.set("val_" + name, value);
    }
    for (const auto& [name, value] : result.all()) history_.append(name, value);
    progress_.end_epoch(steps, result);
    for (const AnyCallback& callback : options_.callbacks) callback->on_epoch_end(model_, epoch, result);
  }

  void run_step(Batch& batch, int64_t step, int64_t first_row, EpochScores& scores) {
    for (const AnyCallback& callback : options_.callbacks) callback->on_batch_begin(model_, step);
    model::prepare_batch(model_, compiled_, options_.class_weight, batch, first_row);
    const int64_t rows = model::row_count(batch.x.front());
    const int64_t traces = state_.train_step->stats().traces;
    if (traces == 0) progress_.compiling();
    const double loss = (*state_.train_step)(model_, compiled_.optimizer, batch).item<double>();
    if (traces > 0 && state_.train_step->stats().traces > traces) {
      progress_.note("traced again: " + state_.train_step->traces().back().reason);
    }
    scores.add(loss, rows);
    if (options_.callbacks.empty()) return;
    Scores so_far = scores.so_far();
    so_far.set("loss", loss);
    for (const AnyCallback& callback : options_.callbacks) callback->on_batch_end(model_, step, so_far);
  }

  Scores evaluate(Batches& batches) {
    batches.restart(0);
    EpochScores scores(compiled_);
    while (std::optional<Batch> batch = batches.next()) {
      model::prepare_batch(model_, compiled_, {}, *batch, 0);
      scores.add((*state_.evaluate_step)(model_, *batch).item<double>(), model::row_count(batch->x.front()));
    }
    return scores.so_far();
  }

  Model model_;
  Model::State& state_;
  const CompileOptions& compiled_;
  const FitOptions& options_;
  model::Progress progress_;
  History history_;
};

std::unique_ptr<Batches> validation_batches(const FitOptions& options, const Data& x, const Data& y, int64_t train_rows) {
  if (options.validation_data.dataset) return model::dataset_batches(*options.validation_data.dataset);
  if (options.validation_data.x.defined()) {
    return model::array_batches("fit", options.validation_data.x, options.validation_data.y, {}, {.batch_size = options.batch_size});
  }
  if (options.validation_split == 0) return nullptr;
  const int64_t rows = model::row_count(x.fields().front().tensor);
  return model::array_batches("fit", model::rows_between(x, train_rows, rows), model::rows_between(y, train_rows, rows), {},
                              {.batch_size = options.batch_size});
}

}  // namespace

History Model::fit(const Data& x, const Data& y, FitOptions options) const {
  model::require_compiled(*state_, "fit");
  if (!(options.validation_split >= 0 && options.validation_split < 1)) {
    throw ArgumentError(fmt::format("fit: validation_split is {}; expected 0 <= split < 1.", options.validation_split));
  }
  if (!y.defined()) throw DataError("fit: no targets are given; expected a tensor, rows or inputs().");
  model::require_present(*this, "fit", x);
  const int64_t rows = model::row_count(x.fields().front().tensor);
  const auto train_rows = static_cast<int64_t>(static_cast<double>(rows) * (1 - options.validation_split));
  const bool is_split = options.validation_split > 0 && !options.validation_data.x.defined() && !options.validation_data.dataset;
  const Data own_x = is_split ? model::rows_between(x, 0, train_rows) : x, own_y = is_split ? model::rows_between(y, 0, train_rows) : y;
  const Tensor weight =
      is_split && options.sample_weight.defined() ? model::rows_between(options.sample_weight, 0, train_rows) : options.sample_weight;
  if (weight.defined() && !options.class_weight.empty()) {
    throw ArgumentError("fit: class_weight and sample_weight are both given; expected one of them.");
  }
  const auto batches = model::array_batches("fit", own_x, own_y, weight,
                                            {.batch_size = options.batch_size, .shuffle = options.shuffle, .seed = options.seed});
  const auto validation = validation_batches(options, x, y, train_rows);
  model::prepare_model(*this, *state_, options.shapes, x);
  return Fit(*this, *state_, options).run(*batches, validation.get());
}

History Model::fit(const Dataset& data, FitOptions options) const {
  model::require_compiled(*state_, "fit");
  if (options.validation_split != 0) {
    throw ArgumentError("fit: validation_split needs tensors; expected validation_data for a dataset.");
  }
  const auto batches = model::dataset_batches(data);
  const auto validation = validation_batches(options, {}, {}, 0);
  const Dataset::Iterator first = data.begin();
  if (!(first != data.end())) throw DataError("fit: the dataset is empty; expected at least one batch.");
  model::prepare_model(*this, *state_, options.shapes, first->x);
  return Fit(*this, *state_, options).run(*batches, validation.get());
}

namespace {

Scores evaluate_batches(const Model& model, Model::State& state, Batches& batches, Verbose verbose) {
  const CompileOptions& compiled = model::require_compiled(state, "evaluate");
  model::Progress progress(verbose, 1, "Evaluating");
  EpochScores scores(compiled);
  batches.restart(0);
  progress.begin_epoch(0, batches.steps());
  int64_t steps = 0;
  for (int64_t first_row = 0;; first_row = batches.rows_before()) {
    std::optional<Batch> batch = batches.next();
    if (!batch) break;
    model::prepare_batch(model, compiled, {}, *batch, first_row);
    scores.add((*state.evaluate_step)(model, *batch).item<double>(), model::row_count(batch->x.front()));
    ++steps;
    if (progress.is_due()) progress.show(steps, scores.so_far());
  }
  if (steps == 0) throw DataError("evaluate: the data has no batch; expected at least one.");
  progress.end_epoch(steps, scores.so_far());
  return scores.so_far();
}

// Rows of batches one behind the other.
Tensor joined(const std::vector<Tensor>& parts) { return parts.size() == 1 ? parts[0] : concat(parts, {.axis = 0}); }

Tensor predict_batches(const Model& model, Model::State& state, Batches& batches) {
  std::vector<Tensor> parts;
  batches.restart(0);
  while (std::optional<Batch> batch = batches.next()) {
    std::vector<Tensor> results = (*state.predict_step)(model, batch->x);
    if (results.size() != 1) {
      throw ArgumentError(
          fmt::format("predict: the model has {} outputs; expected one. Call the model on the data for several.", results.size()));
    }
    parts.push_back(std::move(results[0]));
  }
  if (parts.empty()) throw DataError("predict: the data has no batch; expected at least one.");
  return joined(parts);
}

}  // namespace

Scores Model::evaluate(const Data& x, const Data& y, EvaluateOptions options) const {
  model::require_compiled(*state_, "evaluate");
  if (!y.defined()) throw DataError("evaluate: no targets are given; expected a tensor, rows or inputs().");
  model::require_present(*this, "evaluate", x);
  const auto batches = model::array_batches("evaluate", x, y, options.sample_weight, {.batch_size = options.batch_size});
  model::prepare_model(*this, *state_, state_->shapes, x);
  return evaluate_batches(*this, *state_, *batches, options.verbose);
}

Scores Model::evaluate(const Dataset& data, EvaluateOptions options) const {
  model::require_compiled(*state_, "evaluate");
  const auto batches = model::dataset_batches(data);
  const Dataset::Iterator first = data.begin();
  if (!(first != data.end())) throw DataError("evaluate: the dataset is empty; expected at least one batch.");
  model::prepare_model(*this, *state_, state_->shapes, first->x);
  return evaluate_batches(*this, *state_, *batches, options.verbose);
}

Tensor Model::predict(const Data& x, PredictOptions options) const {
  model::require_present(*this, "predict", x);
  const auto batches = model::array_batches("predict", x, {}, {}, {.batch_size = options.batch_size});
  model::prepare_model(*this, *state_, state_->shapes, x);
  return predict_batches(*this, *state_, *batches);
}

Tensor Model::predict(const Dataset& data, PredictOptions) const {
  const auto batches = model::dataset_batches(data);
  const Dataset::Iterator first = data.begin();
  if (!(first != data.end())) throw DataError("predict: the dataset is empty; expected at least one batch.");
  model::prepare_model(*this, *state_, state_->shapes, first->x);
  return predict_batches(*this, *state_, *batches);
}

Scores Model::train_on_batch(const Data& x, const Data& y) const {
  const CompileOptions& compiled = model::require_compiled(*state_, "train_on_batch");
  model::require_present(*this, "train_on_batch", x);
  const auto batches =
      model::array_batches("train_on_batch", x, y, {}, {.batch_size = std::max<int64_t>(1, model::row_count(x.fields().front().tensor))});
  model::prepare_model(*this, *state_, state_->shapes, x);
  batches->restart(0);
  Batch batch = *batches->next();
  EpochScores scores(compiled);
  model::prepare_batch(*this, compiled, {}, batch, 0);
  scores.add((*state_->train_step)(*this, compiled.optimizer, batch).item<double>(), 1);
  return scores.so_far();
}

}  // namespace anyshape
