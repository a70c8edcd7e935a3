// fit: epochs of compiled steps, with validation, callbacks and progress around them.
#include "base/thread_context.h"
#include "function/random_state.h"
#include "model/batches.h"
#include "model/epoch_scores.h"
#include "model/evaluate.h"
#include "model/interrupt.h"
#include "model/model_state.h"
#include "model/prepare.h"
#include "model/progress.h"
#include "model/resume.h"

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

class Fit final : public model::FitInProgress {
 public:
  Fit(const Model& model, Model::State& state, const FitOptions& options, const function_detail::RandomPosition& began)
      : model_(model), state_(state), compiled_(*state.compiled), options_(options), began_(began), progress_(options.verbose) {
    state_.fit = this;
    state_.fit_thread = &this_thread;
  }
  ~Fit() override { state_.fit_thread = nullptr; }
  Fit(const Fit&) = delete;
  Fit& operator=(const Fit&) = delete;

  History run(Batches& batches, Batches* validation, const model::Resume* from) {
    const model::InterruptScope interrupt;
    batches_ = &batches;
    validation_ = validation;
    state_.stop = false;
    if (!compiled_.step) {  // what one of the user's own reports is known when it has run
      state_.recorded = compiled_.reported_names();
      for (const std::string& name : compiled_.reported_names()) {
        if (validation != nullptr) state_.recorded.push_back("val_" + name);
      }
    }
    if (from != nullptr) {
      from->set_variables();
      history_ = from->history();
      epoch_ = from->part().epoch;
    }
    each([&](Callback& callback) { callback.on_train_begin(model_); });
    if (from != nullptr) go_on(*from);
    for (; epoch_ < options_.epochs && !is_stopped(); ++epoch_) run_epoch(std::exchange(from, nullptr));
    if (is_interrupted()) progress_.note("interrupted: training stops here");
    each([&](Callback& callback) { callback.on_train_end(model_, history_); });
    return std::move(history_);
  }

  void save(model::ModelParts& parts, model::NamedTensors& tensors) const override {
    model::FitPart part{.epoch = epoch_ + (is_epoch_over_ ? 1 : 0),
                        .begun = scores_.has_value() && !is_epoch_over_,
                        .stopped = state_.stop,
                        .began = model::RandomPart::of(began_)};
    part.data = model::to_part(batches_->place());
    if (validation_ != nullptr) part.validation = model::to_part(validation_->place());
    const model::Extent extent = batches_->extent();
    part.extent = extent.count;
    part.unit = extent.unit;
    if (part.begun) {
      part.steps = done_.steps;
      part.rows = done_.rows;
      part.calls = calls_.pairs();
      part.sums = scores_->sums();
      for (size_t i = 0; i < compiled_.metrics.size(); ++i) {
        for (const Variable& sum : compiled_.metrics[i].metric.variables())
          tensors.emplace_back(fmt::format("{}{}/{}", model::of_metrics, i, sum.name()), sum.read());
      }
    }
    model::add_history(history_, part);
    model::add_callbacks(options_.callbacks, part, tensors);
    parts.fit = detail::to_config(part);
  }

 private:
  static bool is_interrupted() { return model::InterruptScope::is_requested(); }
  bool is_stopped() const { return state_.stop || is_interrupted(); }
  void each(const auto& hook) const {
    for (const AnyCallback& callback : options_.callbacks) hook(*callback);
  }
  // Those that write files come last: what the others do belongs into them.
  static bool writes_files(const AnyCallback& callback) { return dynamic_cast<const ModelCheckpoint*>(&*callback) != nullptr; }
  void each_file(const auto& hook) const {
    for (const AnyCallback& callback : options_.callbacks) {
      if (writes_files(callback)) hook(*callback);
    }
  }
  void each_other(const auto& hook) const {
    for (const AnyCallback& callback : options_.callbacks) {
      if (!writes_files(callback)) hook(*callback);
    }
  }

  // What hooks have begun anew goes on as the file says.
  void go_on(const model::Resume& from) {
    from.set_variables();
    from.set_callbacks(options_.callbacks);
    if (from.part().stopped) state_.stop = true;
    batches_->go_to(model::from_part(from.part().data));
    if (validation_ != nullptr) validation_->go_to(model::from_part(from.part().validation));
    function_detail::set_random_position(from.random());
  }

  // From a file that was written inside an epoch it goes on in the middle.
  void run_epoch(const model::Resume* from) {
    if (from != nullptr && !from->part().begun) from = nullptr;
    is_epoch_over_ = false;
    scores_.reset();
    each([&](Callback& callback) { callback.on_epoch_begin(model_, epoch_); });
    state_.train_parts->take();  // of a step that somebody else ran
    std::optional<Batch> batch;
    begin_data(from, batch);
    model::Extent extent = batches_->extent();
    if (!extent.count) extent.count = last_count_;
    progress_.begin(fmt::format("Epoch {}/{}", epoch_ + 1, options_.epochs), extent);
    for (; batch || (batch = next_batch()); batch.reset()) {
      run_step(*batch);
      if (is_stopped()) break;
    }
    last_count_ = extent.is_of_rows ? done_.rows : done_.steps;
    if (done_.steps == 0) throw DataError("fit: the data has no batch; expected at least one.");
    Scores result = scores_->so_far();
    if (validation_ != nullptr) add_validation(*validation_, result);
    const auto end = [&](Callback& callback) { callback.on_epoch_end(model_, epoch_, result); };
    const bool is_cut_short = is_interrupted();
    if (is_cut_short) each_file(end);  // as if the epoch went on: from these files it does
    for (const auto& [name, value] : result.all()) history_.append(name, value);
    is_epoch_over_ = true;
    progress_.end(done_, result);
    each_other(end);
    if (!is_cut_short) each_file(end);
  }

  // A batch where a file was written after it was drawn and before its step.
  void begin_data(const model::Resume* from, std::optional<Batch>& batch) {
    calls_ = {};
    done_ = {};
    if (from == nullptr) {
      batches_->restart();
      scores_.emplace(compiled_);
    } else {
      batch = from->replay(*batches_, calls_);
      done_ = {from->part().steps, from->part().rows};
      scores_.emplace(compiled_);
      scores_->set_sums(from->part().sums);
      from->set_metrics(compiled_);
      from->set_variables();
      from->set_callbacks(options_.callbacks);
      function_detail::set_random_position(from->random());
    }
    drawn_ = from == nullptr ? batches_->place().opened.next_call : from->drawn();
  }

  // How many calls drew numbers before the batch is kept: whoever repeats the epoch's data draws the same.
  std::optional<Batch> next_batch() {
    const uint64_t now = function_detail::random_position().next_call;
    calls_.add(static_cast<int64_t>(now - std::exchange(drawn_, now)));
    return batches_->next();
  }

  void run_step(const Batch& batch) {
    const int64_t step = done_.steps;
    each([&](Callback& callback) { callback.on_batch_begin(model_, step); });
    const int64_t traces = state_.train_step->stats().traces;
    if (traces == 0 && !compiled_.run_eagerly) progress_.compiling();
    const double loss =
        model::run_step(*state_.train_step, compiled_.run_eagerly, model_, compiled_.optimizer, batch).template item<double>();
    if (traces > 0 && state_.train_step->stats().traces > traces) {
      progress_.note("traced again: " + state_.train_step->traces().back().reason);
    }
    scores_->add(loss, model::row_count(batch.x.front()), state_.train_parts->take());
    done_.add(batch);
    if (!options_.callbacks.empty()) {
      Scores so_far = scores_->so_far();
      so_far.set("loss", loss);
      const auto end = [&](Callback& callback) { callback.on_batch_end(model_, step, so_far); };
      each_other(end);
      each_file(end);
    }
    if (progress_.is_due()) progress_.show(done_, scores_->so_far());
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
  function_detail::RandomPosition began_;
  model::Progress progress_;
  Batches *batches_ = nullptr, *validation_ = nullptr;
  std::optional<int64_t> last_count_;  // of the epoch before: what to expect where nobody knows
  History history_;
  int64_t epoch_ = 0;
  bool is_epoch_over_ = false;
  std::optional<model::EpochScores> scores_;  // of the epoch in progress
  model::Done done_;
  model::Runs calls_;
  uint64_t drawn_ = 0;  // calls that drew numbers before the last batch
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

// Where numbers are drawn from while the fit runs, and the file that it goes on from: then they begin where the other fit's began.
struct Beginning {
  explicit Beginning(const FitOptions& options) {
    if (!options.resume_from.empty()) from.emplace(options.resume_from);
    if (options.seed) seeded.emplace(static_cast<uint64_t>(*options.seed));
    before = function_detail::random_position();
    if (from) function_detail::set_random_position(from->part().began.position());
    began = function_detail::random_position();
  }
  ~Beginning() {
    if (from && !is_running) function_detail::set_random_position(before);  // nothing is changed by a file that does not fit
  }
  Beginning(const Beginning&) = delete;
  Beginning& operator=(const Beginning&) = delete;

  std::optional<model::Resume> from;
  std::optional<random::SeedScope> seeded;
  function_detail::RandomPosition before, began;
  bool is_running = false;
};

History run_fit(const Model& model, const std::shared_ptr<Model::State>& state, const FitOptions& options, Beginning& beginning,
                Batches& batches, Batches* validation) {
  model::prepare_model(model, state, options.shapes, batches.sample());
  batches.hold_to(model);
  if (validation != nullptr) validation->hold_to(model);
  if (beginning.from) beginning.from->require_fit(model, *state->compiled, batches.extent());
  beginning.is_running = true;
  return Fit(model, *state, options, beginning.began).run(batches, validation, beginning.from ? &*beginning.from : nullptr);
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
  Beginning beginning(options);
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
  return run_fit(*this, state_, options, beginning, *batches, validation.get());
}

History Model::fit(const Dataset& data, FitOptions options) {
  const model::Compiled& compiled = model::require_compiled(*this, "fit");
  const FitScope scope(*state_);
  require_options(options);
  if (options.validation_split != 0 || options.sample_weight.defined()) {
    throw ArgumentError("fit: validation_split and sample_weight need tensors; expected validation_data and weights in the dataset.");
  }
  Beginning beginning(options);
  const auto batches = model::dataset_batches({.what = "fit",
                                               .network = *this,
                                               .compiled = &compiled,
                                               .class_weight = options.class_weight,
                                               .any_targets = static_cast<bool>(compiled.step)},
                                              data, {.batch_size = options.batch_size, .shuffle = options.shuffle});
  const auto validation = given_validation({"fit: validation", *this, &compiled}, options);
  return run_fit(*this, state_, options, beginning, *batches, validation.get());
}

}  // namespace anyshape
