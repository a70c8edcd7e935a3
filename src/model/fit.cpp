// fit: epochs of compiled steps, with validation, callbacks and progress around them.
#include "model/batches.h"
#include "model/epoch_scores.h"
#include "model/evaluate.h"
#include "model/interrupt.h"
#include "model/model_state.h"
#include "model/prepare.h"
#include "model/progress.h"

#include <anyshape/error.h>
#include <anyshape/random.h>

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace anyshape {
namespace {

using model::Batches;

// While it lives a fit runs: another one, or compile(), would change the steps that it uses.
class FitScope {
 public:
  explicit FitScope(Model::State& state) : state_(state) {
    if (state.is_fitting.exchange(true)) throw ArgumentError("fit: another fit of the model runs; expected one at a time.");
  }
  ~FitScope() {
    state_.recorded.clear();
    state_.is_fitting = false;
  }
  FitScope(const FitScope&) = delete;
  FitScope& operator=(const FitScope&) = delete;

 private:
  Model::State& state_;
};

class Fit {
 public:
  Fit(const Model& model, Model::State& state, const FitOptions& options)
      : model_(model), state_(state), compiled_(*state.compiled), options_(options), progress_(options.verbose) {}

  History run(Batches& batches, Batches* validation) {
    const model::InterruptScope interrupt;
    state_.stop = false;
    if (!compiled_.step) {  // what one of the user's own reports is known when it has run
      state_.recorded = compiled_.reported_names();
      for (const std::string& name : compiled_.reported_names()) {
        if (validation != nullptr) state_.recorded.push_back("val_" + name);
      }
    }
    each([&](Callback& callback) { callback.on_train_begin(model_); });
    for (int64_t epoch = 0; epoch < options_.epochs && !is_stopped(); ++epoch) run_epoch(epoch, batches, validation);
    if (is_interrupted()) progress_.note("interrupted: training stops here");
    each([&](Callback& callback) { callback.on_train_end(model_, history_); });
    return std::move(history_);
  }

 private:
  static bool is_interrupted() { return model::InterruptScope::is_requested(); }
  bool is_stopped() const { return state_.stop || is_interrupted(); }
  void each(const auto& hook) const {
    for (const AnyCallback& callback : options_.callbacks) hook(*callback);
  }

  void run_epoch(int64_t epoch, Batches& batches, Batches* validation) {
    each([&](Callback& callback) { callback.on_epoch_begin(model_, epoch); });
    state_.train_parts->take();  // of a step that somebody else ran
    batches.restart();
    model::Extent extent = batches.extent();
    if (!extent.count) extent.count = last_count_;
    progress_.begin(fmt::format("Epoch {}/{}", epoch + 1, options_.epochs), extent);
    model::EpochScores scores(compiled_);
    model::Done done;
    while (std::optional<Batch> batch = batches.next()) {
      run_step(*batch, done.steps, scores);
      done.add(*batch);
      if (progress_.is_due()) progress_.show(done, scores.so_far());
      if (is_stopped()) break;
    }
    last_count_ = extent.is_of_rows ? done.rows : done.steps;
    if (done.steps == 0) throw DataError("fit: the data has no batch; expected at least one.");
    Scores result = scores.so_far();
    if (validation != nullptr) add_validation(*validation, result);
    for (const auto& [name, value] : result.all()) history_.append(name, value);
    progress_.end(done, result);
    each([&](Callback& callback) { callback.on_epoch_end(model_, epoch, result); });
  }

  void run_step(const Batch& batch, int64_t step, model::EpochScores& scores) {
    each([&](Callback& callback) { callback.on_batch_begin(model_, step); });
    const int64_t traces = state_.train_step->stats().traces;
    if (traces == 0 && !compiled_.run_eagerly) progress_.compiling();
    const double loss =
        model::run_step(*state_.train_step, compiled_.run_eagerly, model_, compiled_.optimizer, batch).template item<double>();
    if (traces > 0 && state_.train_step->stats().traces > traces) {
      progress_.note("traced again: " + state_.train_step->traces().back().reason);
    }
    scores.add(loss, model::row_count(batch.x.front()), state_.train_parts->take());
    if (options_.callbacks.empty()) return;
    Scores so_far = scores.so_far();
    so_far.set("loss", loss);
    each([&](Callback& callback) { callback.on_batch_end(model_, step, so_far); });
  }

  // val_loss and the others; where an interrupt cuts the epoch short they are NaN, so that every column has a value per epoch.
  void add_validation(Batches& validation, Scores& result) const {
    std::optional<Scores> scores;
    if (!is_interrupted()) scores = model::evaluate_batches("fit", model_, state_.evaluations, validation, nullptr, is_interrupted);
    for (const std::string& name : compiled_.reported_names()) {
      result.set("val_" + name, scores ? (*scores)[name] : std::numeric_limits<double>::quiet_NaN());
    }
  }

  Model model_;
  Model::State& state_;
  const model::Compiled& compiled_;
  const FitOptions& options_;
  model::Progress progress_;
  std::optional<int64_t> last_count_;  // of the epoch before: what to expect where nobody knows
  History history_;
};

void require_options(const FitOptions& options) {
  if (options.epochs < 1) throw ArgumentError(fmt::format("fit: epochs is {}; expected at least 1.", options.epochs));
  if (!(options.validation_split >= 0 && options.validation_split < 1)) {
    throw ArgumentError(fmt::format("fit: validation_split is {}; expected 0 <= split < 1.", options.validation_split));
  }
  const ValidationData& validation = options.validation_data;
  if (validation.dataset && (validation.x.defined() || validation.y.defined() || validation.sample_weight.defined())) {
    throw ArgumentError("fit: validation_data has tensors and a dataset; expected one of them.");
  }
  if ((validation.y.defined() || validation.sample_weight.defined()) && !validation.x.defined()) {
    throw ArgumentError(
        fmt::format("fit: validation_data has .{} and no .x; expected both.", validation.y.defined() ? "y" : "sample_weight"));
  }
  if ((validation.x.defined() || validation.dataset) && options.validation_split > 0) {
    throw ArgumentError("fit: validation_split and validation_data are both given; expected one of them.");
  }
}

std::unique_ptr<Batches> given_validation(const model::Purpose& purpose, const FitOptions& options) {
  if (options.validation_data.dataset) {
    return model::dataset_batches(purpose, *options.validation_data.dataset, {.batch_size = options.batch_size});
  }
  if (!options.validation_data.x.defined()) return nullptr;
  const ValidationData& given = options.validation_data;
  return model::array_batches(purpose, given.x, given.y, given.sample_weight, {.batch_size = options.batch_size});
}

void hold_to(const Model& model, Batches& batches, Batches* validation) {
  batches.hold_to(model);
  if (validation != nullptr) validation->hold_to(model);
}

}  // namespace

History Model::fit(const Data& x, const Data& y, FitOptions options) {
  const model::Compiled& compiled = model::require_compiled(*this, "fit");
  const FitScope scope(*state_);
  require_options(options);
  const model::Purpose training{.what = "fit",
                                .network = *this,
                                .compiled = &compiled,
                                .class_weight = options.class_weight,
                                .any_targets = static_cast<bool>(compiled.step)};
  model::Purpose checking{"fit: validation", *this, &compiled};
  const model::ArrayOptions order{.batch_size = options.batch_size, .shuffle = options.shuffle};
  std::optional<random::SeedScope> seeded;
  if (options.seed) seeded.emplace(static_cast<uint64_t>(*options.seed));
  std::unique_ptr<Batches> batches, validation;
  if (options.validation_split > 0) {                               // the last rows, as they are given
    model::require_equal_rows("fit", x, y, options.sample_weight);  // slices of unequal ones may be equal
    model::require_rows("fit", x);
    const int64_t rows = model::row_count("fit", x);
    const auto kept = static_cast<int64_t>(std::floor(static_cast<double>(rows) * (1 - options.validation_split)));
    if (kept == 0 || kept == rows) {
      throw DataError(fmt::format("fit: validation_split {} of {} rows leaves {} for training; expected some on both sides.",
                                  options.validation_split, rows, kept));
    }
    batches = model::array_batches(training, model::rows_between(x, 0, kept), model::rows_between(y, 0, kept),
                                   model::rows_between(options.sample_weight, 0, kept), order);
    checking.first_row = kept;
    validation = model::array_batches(checking, model::rows_between(x, kept, rows), model::rows_between(y, kept, rows),
                                      model::rows_between(options.sample_weight, kept, rows), {.batch_size = options.batch_size});
  } else {
    batches = model::array_batches(training, x, y, options.sample_weight, order);
    validation = given_validation(checking, options);
  }
  model::prepare_model(*this, state_, options.shapes, batches->sample());
  hold_to(*this, *batches, validation.get());
  return Fit(*this, *state_, options).run(*batches, validation.get());
}

History Model::fit(const Dataset& data, FitOptions options) {
  const model::Compiled& compiled = model::require_compiled(*this, "fit");
  const FitScope scope(*state_);
  require_options(options);
  if (options.validation_split != 0 || options.sample_weight.defined()) {
    throw ArgumentError("fit: validation_split and sample_weight need tensors; expected validation_data and weights in the dataset.");
  }
  std::optional<random::SeedScope> seeded;
  if (options.seed) seeded.emplace(static_cast<uint64_t>(*options.seed));
  const auto batches = model::dataset_batches({.what = "fit",
                                               .network = *this,
                                               .compiled = &compiled,
                                               .class_weight = options.class_weight,
                                               .any_targets = static_cast<bool>(compiled.step)},
                                              data, {.batch_size = options.batch_size, .shuffle = options.shuffle});
  const auto validation = given_validation({"fit: validation", *this, &compiled}, options);
  model::prepare_model(*this, state_, options.shapes, batches->sample());
  hold_to(*this, *batches, validation.get());
  return Fit(*this, *state_, options).run(*batches, validation.get());
}

}  // namespace anyshape
