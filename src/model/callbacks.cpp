// The callbacks that come with the library.

#include "base/near_names.h"
#include "base/option_rules.h"
#include "model/model_state.h"
#include "model/path_template.h"
#include "model/saved_state.h"

#include <anyshape/callback.h>
#include <anyshape/error.h>
#include <anyshape/model.h>
#include <anyshape/registry.h>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

namespace anyshape {
namespace {

// What a value is named after: "val_left_weighted_accuracy_1", of an output and numbered among equal ones, is an accuracy.
bool is_named_after(std::string_view value, const std::vector<std::string>& metrics) {
  const size_t last = value.rfind('_');
  if (last != std::string_view::npos && value.find_first_not_of("0123456789", last + 1) == std::string_view::npos) {
    value = value.substr(0, last);
  }
  return std::ranges::any_of(metrics, [&](const std::string& metric) { return value == metric || value.ends_with("_" + metric); });
}

// None: the name does not tell.
std::optional<bool> wants_maximum(Monitor mode, const std::string& name) {
  if (mode != Monitor::Auto) return mode == Monitor::Max;
  if (is_named_after(name, {"accuracy", "acc", "auc", "precision", "recall", "f1_score", "f1"})) return true;
  std::vector<std::string> minimized = registry_of<Loss>().names();
  minimized.insert(minimized.end(), {"loss", "root_mean_squared_error"});
  if (is_named_after(name, minimized)) return false;
  return std::nullopt;
}

bool is_better(double value, double best, Monitor mode, const std::string& name, double min_delta) {
  return wants_maximum(mode, name).value_or(false) ? value > best + min_delta : value < best - min_delta;
}

// ArgumentError with the recorded names where the monitored one is not among them.
void require_recorded(const char* callback, const std::string& name, const std::vector<std::string>& recorded) {
  if (std::ranges::find(recorded, name) != recorded.end()) return;
  throw ArgumentError(
      fmt::format("{}: {} Give fit validation data for val_ values.", callback, unknown_name("recorded value", name, recorded)));
}

double monitored(const char* callback, const std::string& name, const Scores& scores) {
  std::vector<std::string> names;
  for (const auto& each : scores.all()) names.push_back(each.first);
  require_recorded(callback, name, names);
  return scores[name];
}

// The value that any other is better than. ArgumentError where the fit will not record the name, or the name does not tell what is better.
double worst(const char* callback, const Model& model, Monitor mode, const std::string& name) {
  const std::vector<std::string>& recorded = Model::State::of(model, callback).recorded;
  if (!recorded.empty()) require_recorded(callback, name, recorded);
  const std::optional<bool> maximum = wants_maximum(mode, name);
  if (!maximum) {
    throw ArgumentError(fmt::format(
        "{}: \"{}\" may be better when it is greater or when it is less; expected .mode = Monitor::Max or Monitor::Min.", callback, name));
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return *maximum ? -infinity : infinity;
}

// ArgumentError for a path whose folder cannot be written to: before training, not after the first epoch of it.
void require_folder(const char* callback, const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code fault;
  const bool is_there = std::filesystem::is_directory(folder, fault);
  if (is_there && ::access(folder.c_str(), W_OK | X_OK) == 0) return;
  throw ArgumentError(fmt::format("{}: \"{}\" cannot be written: the folder \"{}\" {}; expected a path in a folder that may be written.",
                                  callback, path.string(), folder.string(), is_there ? "may not be written" : "is not there"));
}

}  // namespace

std::shared_ptr<Callback> AnyCallback::required(std::shared_ptr<Callback> callback) {
  if (callback == nullptr) throw ArgumentError("callback: the pointer is null; expected a callback.");
  return callback;
}

ModelCheckpoint::ModelCheckpoint(std::string path, ModelCheckpointOptions options) : path_(std::move(path)), options_(std::move(options)) {}

void ModelCheckpoint::on_train_begin(Model& model) {
  require::at_least("ModelCheckpoint", "save_freq", options_.save_freq, 0);
  steps_ = 0;
  if (options_.save_best_only) best_ = worst("ModelCheckpoint", model, options_.mode, options_.monitor);
  const model::PathTemplate path("ModelCheckpoint", path_);
  std::vector<std::string> recorded = Model::State::of(model, "ModelCheckpoint").recorded;
  if (options_.save_freq > 0) {  // there is no validation in the middle of an epoch
    std::erase_if(recorded, [](const std::string& name) { return name.starts_with("val_"); });
    if (options_.save_best_only && !recorded.empty()) require_recorded("ModelCheckpoint", options_.monitor, recorded);
  }
  if (!recorded.empty()) path.require_known(recorded);
  require_folder("ModelCheckpoint", path.up_to_first_field());
}

void ModelCheckpoint::on_epoch_begin(Model&, int64_t epoch) { epoch_ = epoch; }

void ModelCheckpoint::on_epoch_end(Model& model, int64_t epoch, const Scores& scores) {
  if (options_.save_freq == 0) save(model, epoch, scores);
}

void ModelCheckpoint::on_batch_end(Model& model, int64_t, const Scores& scores) {
  if (options_.save_freq == 0 || ++steps_ < options_.save_freq) return;
  steps_ = 0;
  save(model, epoch_, scores);
}

void ModelCheckpoint::save(Model& model, int64_t epoch, const Scores& scores) {
  if (options_.save_best_only) {
    const double value = monitored("ModelCheckpoint", options_.monitor, scores);
    if (!is_better(value, best_, options_.mode, options_.monitor, 0)) return;
    best_ = value;
  }
  const std::string file = model::PathTemplate("ModelCheckpoint", path_).filled_in(epoch + 1, scores);
  options_.save_weights_only ? model.save_weights(file) : model::save_model(model, file, model::Untold::Told);
}

CallbackState ModelCheckpoint::state() const { return {Config::map({{"best", best_}, {"steps", steps_}}), {}}; }
void ModelCheckpoint::set_state(const CallbackState& state) {
  best_ = state.values["best"].as_number();
  steps_ = state.values["steps"].as_integer();
}

EarlyStopping::EarlyStopping(EarlyStoppingOptions options) : options_(std::move(options)) {
  require::finite("EarlyStopping", "min_delta", options_.min_delta);
  require::at_least("EarlyStopping", "patience", options_.patience, 0);
  require::at_least("EarlyStopping", "start_from_epoch", options_.start_from_epoch, 0);
}

void EarlyStopping::on_train_begin(Model& model) {
  best_ = worst("EarlyStopping", model, options_.mode, options_.monitor);
  waited_ = 0;
  best_weights_.clear();
}

void EarlyStopping::on_epoch_end(Model& model, int64_t epoch, const Scores& scores) {
  if (epoch < options_.start_from_epoch) return;
  const double value = monitored("EarlyStopping", options_.monitor, scores);
  if (is_better(value, best_, options_.mode, options_.monitor, std::abs(options_.min_delta))) {
    best_ = value;
    waited_ = 0;
    if (options_.restore_best_weights) best_weights_ = model.weights();
    return;
  }
  if (++waited_ >= std::max<int64_t>(options_.patience, 1)) model.stop_training();
}

void EarlyStopping::on_train_end(Model& model, const History&) {
  if (!best_weights_.empty()) model.set_weights(best_weights_);
}

CallbackState EarlyStopping::state() const {
  CallbackState state{Config::map({{"best", best_}, {"waited", waited_}, {"weights", static_cast<int64_t>(best_weights_.size())}}), {}};
  for (const Tensor& weight : best_weights_) state.tensors.emplace_back(fmt::to_string(state.tensors.size()), weight);
  return state;
}

void EarlyStopping::set_state(const CallbackState& state) {
  std::vector<Tensor> weights;
  for (const auto& each : state.tensors) {
    const auto has_next = [&](const auto& tensor) { return tensor.first == fmt::to_string(weights.size()); };
    const auto found = std::ranges::find_if(state.tensors, has_next);
    if (found == state.tensors.end())
      throw ArgumentError(fmt::format("EarlyStopping: a tensor \"{}\"; expected them numbered from 0 on.", each.first));
    weights.push_back(found->second);
  }
  if (state.values["weights"].as_integer() != static_cast<int64_t>(weights.size())) {
    throw ArgumentError(fmt::format("EarlyStopping: {} tensors; expected as many as there are weights.", weights.size()));
  }
  best_ = state.values["best"].as_number();
  waited_ = state.values["waited"].as_integer();
  best_weights_ = std::move(weights);
}

ReduceLROnPlateau::ReduceLROnPlateau(ReduceLROnPlateauOptions options) : options_(std::move(options)) {
  if (!(options_.factor > 0 && options_.factor < 1)) {
    throw ArgumentError(fmt::format("ReduceLROnPlateau: factor is {}; expected 0 < factor < 1.", options_.factor));
  }
  const char* const name = "ReduceLROnPlateau";
  require::at_least(name, "patience", options_.patience, 0);
  require::not_negative(name, "min_delta", options_.min_delta);
  require::at_least(name, "cooldown", options_.cooldown, 0);
  require::not_negative(name, "min_learning_rate", options_.min_learning_rate);
}

void ReduceLROnPlateau::on_train_begin(Model& model) {
  best_ = worst("ReduceLROnPlateau", model, options_.mode, options_.monitor);
  waited_ = cooling_ = 0;
}

void ReduceLROnPlateau::on_epoch_end(Model& model, int64_t, const Scores& scores) {
  const double value = monitored("ReduceLROnPlateau", options_.monitor, scores);
  if (cooling_ > 0) {
    --cooling_;
    waited_ = 0;
  }
  if (is_better(value, best_, options_.mode, options_.monitor, options_.min_delta)) {
    best_ = value;
    waited_ = 0;
    return;
  }
  if (cooling_ > 0 || ++waited_ < options_.patience) return;
  Optimizer optimizer = model.optimizer();
  if (optimizer.learning_rate() <= options_.min_learning_rate) return;
  optimizer.set_learning_rate(std::max(optimizer.learning_rate() * options_.factor, options_.min_learning_rate));
  cooling_ = options_.cooldown;
  waited_ = 0;
}

CallbackState ReduceLROnPlateau::state() const { return {Config::map({{"best", best_}, {"waited", waited_}, {"cooling", cooling_}}), {}}; }
void ReduceLROnPlateau::set_state(const CallbackState& state) {
  best_ = state.values["best"].as_number();
  waited_ = state.values["waited"].as_integer();
  cooling_ = state.values["cooling"].as_integer();
}

LearningRateScheduler::LearningRateScheduler(std::function<double(int64_t, double)> schedule)
    : schedule_(require::callable("LearningRateScheduler", "the schedule", std::move(schedule))) {}

void LearningRateScheduler::on_epoch_begin(Model& model, int64_t epoch) {
  Optimizer optimizer = model.optimizer();
  optimizer.set_learning_rate(schedule_(epoch, optimizer.learning_rate()));
}

CSVLogger::CSVLogger(std::filesystem::path file, CSVLoggerOptions options) : file_(std::move(file)), options_(options) {}

static std::ofstream opened(const std::filesystem::path& file, std::ios::openmode mode) {
  std::ofstream out(file, mode);
  if (!out)
    throw ArgumentError(fmt::format("CSVLogger: \"{}\" cannot be written; expected a path in a folder that exists.", file.string()));
  return out;
}

// A file of another training is emptied before the first line and not here: a fit that goes on cuts it where it stood.
void CSVLogger::on_train_begin(Model&) {
  require_folder("CSVLogger", file_);
  opened(file_, std::ios::app);
  is_begun_ = options_.append;
}

void CSVLogger::on_epoch_end(Model&, int64_t epoch, const Scores& scores) {
  std::ofstream out = opened(file_, is_begun_ ? std::ios::app : std::ios::trunc);
  is_begun_ = true;
  const bool is_first = std::filesystem::file_size(file_) == 0;
  std::string head = "epoch";
  std::string row = fmt::to_string(epoch);
  for (const auto& [name, value] : scores.all()) {
    head += options_.separator + name;
    row += options_.separator + fmt::to_string(value);
  }
  if (is_first) out << head << '\n';
  out << row << '\n';
  if (!out)
    throw ArgumentError(fmt::format("CSVLogger: \"{}\" cannot be written; expected a path in a folder that exists.", file_.string()));
}

CallbackState CSVLogger::state() const {
  std::error_code fault;
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(file_, fault));
  return {Config::map({{"begun", is_begun_}, {"bytes", is_begun_ && !fault ? bytes : 0}}), {}};
}

void CSVLogger::set_state(const CallbackState& state) {
  const int64_t bytes = state.values["bytes"].as_integer();
  is_begun_ = state.values["begun"].as_bool();
  std::error_code fault;
  if (!is_begun_ || bytes < 0 || static_cast<int64_t>(std::filesystem::file_size(file_, fault)) <= bytes || fault) return;
  std::filesystem::resize_file(file_, static_cast<uintmax_t>(bytes));
}

void TerminateOnNaN::on_batch_end(Model& model, int64_t, const Scores& scores) {
  if (!std::isfinite(scores["loss"])) model.stop_training();
}

void LambdaCallback::on_train_begin(Model& model) {
  if (hooks_.on_train_begin) hooks_.on_train_begin(model);
}
void LambdaCallback::on_train_end(Model& model, const History& history) {
  if (hooks_.on_train_end) hooks_.on_train_end(model, history);
}
void LambdaCallback::on_epoch_begin(Model& model, int64_t epoch) {
  if (hooks_.on_epoch_begin) hooks_.on_epoch_begin(model, epoch);
}
void LambdaCallback::on_epoch_end(Model& model, int64_t epoch, const Scores& scores) {
  if (hooks_.on_epoch_end) hooks_.on_epoch_end(model, epoch, scores);
}
void LambdaCallback::on_batch_begin(Model& model, int64_t step) {
  if (hooks_.on_batch_begin) hooks_.on_batch_begin(model, step);
}
void LambdaCallback::on_batch_end(Model& model, int64_t step, const Scores& scores) {
  if (hooks_.on_batch_end) hooks_.on_batch_end(model, step, scores);
}

}  // namespace anyshape
