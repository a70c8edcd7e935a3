// evaluate, predict and train_on_batch.
#include "model/evaluate.h"

#include "base/cut_text.h"
#include "base/log.h"
#include "data/dataset_impl.h"
#include "data/joined.h"
#include "model/epoch_scores.h"
#include "model/prepare.h"
#include "model/shape_groups.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace anyshape {

std::optional<Scores> model::evaluate_batches(const char* what, const Model& model, const std::shared_ptr<Evaluations>& evaluations,
                                              Batches& batches, Progress* progress, const std::function<bool()>& is_stopped) {
  const Evaluations::Pass pass(evaluations);
  const auto& [compiled, step_parts, step] = *pass;
  EpochScores scores(compiled);
  step_parts->take();  // of a pass that failed
  batches.restart();
  Done done;
  while (std::optional<Batch> batch = batches.next()) {
    const int64_t rows = row_count(batch->x.front());
    const double loss = run_step(step, compiled.run_eagerly, model, *batch).item<double>();
    scores.add(loss, rows, step_parts->take());
    done.add(*batch);
    if (progress != nullptr && progress->is_due()) progress->show(done, scores.so_far());
    if (is_stopped && is_stopped()) return std::nullopt;
  }
  if (done.steps == 0) throw DataError(fmt::format("{}: the data has no batch; expected at least one.", what));
  if (progress != nullptr) progress->end(done, scores.so_far());
  return scores.so_far();
}

namespace {

using model::Batches;

Scores evaluate_all(const Model& model, const std::shared_ptr<Model::State>& state, Batches& batches, Verbose verbose) {
  const model::Prepared prepared = model::prepare_model(model, state, batches.sample());
  batches.hold_to(model);
  model::Progress progress(verbose);
  progress.begin("Evaluating", batches.extent());
  return *model::evaluate_batches("evaluate", model, prepared.evaluations, batches, &progress, {});
}

// The results of batches as one, in the order of the rows that they were given in: `numbers` says which, none: as they are.
Tensor joined_results(const std::vector<Tensor>& results, const std::vector<int64_t>& numbers) {
  const Tensor& first = results[0];
  for (const Tensor& each : results) {
    if (numbers.empty() || each.is_ragged() || data::are_equal_from(each, first, 1)) continue;
    throw ShapeError(
        fmt::format("predict: rows of several shapes have results of several shapes: {} and {}; expected one shape for all. "
                    "Predict rows of one shape at a time.",
                    describe(first), describe(each)));
  }
  const Tensor all = results.size() == 1 ? first : concat(results, {.axis = 0});
  if (numbers.empty()) return all;
  std::vector<int64_t> place_of(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) place_of[static_cast<size_t>(numbers[i])] = static_cast<int64_t>(i);
  return take(all, tensor(place_of, {static_cast<int64_t>(place_of.size())}));
}

Outputs predict_all(const Model& model, const std::shared_ptr<Model::State>& state, Batches& batches, Verbose verbose) {
  const model::Prepared prepared = model::prepare_model(model, state, batches.sample());
  model::Progress progress(verbose);
  std::vector<std::vector<Tensor>> parts;  // per output, the batches' results
  std::vector<int64_t> numbers;            // of all rows so far
  model::Done done;
  batches.restart();
  progress.begin("Predicting", batches.extent());
  while (std::optional<Batch> batch = batches.next()) {
    std::vector<Tensor> results = model::run_step(prepared.predict_step, prepared.run_eagerly, model, batch->x);
    parts.resize(results.size());
    for (size_t output = 0; output < results.size(); ++output) parts[output].push_back(std::move(results[output]));
    std::ranges::copy(batches.row_numbers(), std::back_inserter(numbers));
    done.add(*batch);
    if (progress.is_due()) progress.show(done, {});
  }
  if (done.steps == 0) throw DataError("predict: the data has no batch; expected at least one.");
  progress.end(done, {});
  std::vector<Tensor> joined;
  for (const std::vector<Tensor>& output : parts) joined.push_back(joined_results(output, numbers));
  return {std::move(joined), model.AnyLayer::layer()->output_names()};
}

// The rows of a folder's results stand for the files that could be read.
void tell_left_out(const Dataset& data) {
  const FolderFacts* const folder = data.impl()->folder();
  if (folder == nullptr) return;
  const std::vector<std::string> left_out = folder->left_out();
  if (!folder->is_news(left_out.size()) || left_out.empty()) return;
  log_warning(
      fmt::format("predict: {} of {} images cannot be read and have no row in the results: {}. The dataset's file_names() are the "
                  "files of the rows.",
                  left_out.size(), left_out.size() + folder->file_names().size(), listed(left_out)));
}

Tensor the_one(const Outputs& outputs) {
  if (outputs.size() == 1) return outputs[0];
  throw ArgumentError(fmt::format("predict: the model has {} outputs: {}; expected one. Call predict_outputs() for all of them.",
                                  outputs.size(), fmt::join(outputs.names(), ", ")));
}

}  // namespace

Scores Model::evaluate(const Data& x, const Data& y, EvaluateOptions options) const {
  const model::Compiled& compiled = model::require_compiled(*this, "evaluate");
  const auto batches =
      model::array_batches({"evaluate", *this, &compiled}, x, y, options.sample_weight, {.batch_size = options.batch_size});
  return evaluate_all(*this, state_, *batches, options.verbose);
}

Scores Model::evaluate(const Dataset& data, EvaluateOptions options) const {
  const model::Compiled& compiled = model::require_compiled(*this, "evaluate");
  if (options.sample_weight.defined()) {
    throw ArgumentError("evaluate: sample_weight needs tensors; expected the weights in the dataset.");
  }
  return evaluate_all(*this, state_, *model::dataset_batches({"evaluate", *this, &compiled}, data, {.batch_size = options.batch_size}),
                      options.verbose);
}

Tensor Model::predict(const Data& x, PredictOptions options) const { return the_one(predict_outputs(x, options)); }
Tensor Model::predict(const Dataset& data, PredictOptions options) const { return the_one(predict_outputs(data, options)); }

Outputs Model::predict_outputs(const Data& x, PredictOptions options) const {
  State::of(*this, "predict");
  const auto batches = model::array_batches({"predict", *this, nullptr}, x, {}, {}, {.batch_size = options.batch_size});
  return predict_all(*this, state_, *batches, options.verbose);
}

Outputs Model::predict_outputs(const Dataset& data, PredictOptions options) const {
  State::of(*this, "predict");
  const auto batches = model::dataset_batches({"predict", *this, nullptr}, data, {.batch_size = options.batch_size, .in_order = true});
  Outputs outputs = predict_all(*this, state_, *batches, options.verbose);
  tell_left_out(data);
  return outputs;
}

Scores Model::train_on_batch(const Data& x, const Data& y, const Data& sample_weight) {
  const model::Compiled& compiled = model::require_compiled(*this, "train_on_batch");
  model::require_equal_rows("train_on_batch", x, y, sample_weight);
  if (model::shape_count(x, y, sample_weight) > 1) {
    throw DataError("train_on_batch: the rows have several shapes; expected one, since all are one step. Call fit, which groups them.");
  }
  const model::Purpose training{
      .what = "train_on_batch", .network = *this, .compiled = &compiled, .any_targets = static_cast<bool>(compiled.step)};
  const auto batches =
      model::array_batches(training, x, y, sample_weight, {.batch_size = std::max<int64_t>(1, model::row_count("train_on_batch", x))});
  model::prepare_model(*this, state_, batches->sample());
  if (!compiled.run_eagerly && state_->train_step->stats().traces == 0)
    batches->hold_to(*this);  // of later batches the step says what is wrong
  batches->restart();
  model::EpochScores scores(compiled);
  state_->train_parts->take();  // of a step that somebody else ran
  const double loss =
      model::run_step(*state_->train_step, compiled.run_eagerly, *this, compiled.optimizer, *batches->next()).item<double>();
  scores.add(loss, model::row_count("train_on_batch", x), state_->train_parts->take());
  Scores result = scores.so_far();
  result.set("loss", loss);  // of one batch the whole is what its parts add up to
  return result;
}

}  // namespace anyshape
