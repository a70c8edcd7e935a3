// Callbacks: what runs between epochs and steps of fit.
#pragma once
#include <anyshape/config.h>
#include <anyshape/history.h>
#include <anyshape/tensor.h>

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

class Model;

/// What a callback remembers of a training, so that another process goes on with it.
struct CallbackState {
  Config values = {};                                        ///< numbers and texts
  std::vector<std::pair<std::string, Tensor>> tensors = {};  ///< each with a name of its own
};

/// Derive from this for your own hooks; each of them is optional.
class Callback {
 public:
  virtual ~Callback() = default;
  virtual void on_train_begin(Model&) {}                                  ///< before the first epoch of a fit
  virtual void on_train_end(Model&, const History&) {}                    ///< after the last epoch, also where training stops early
  virtual void on_epoch_begin(Model&, int64_t /*epoch*/) {}               ///< epochs count from 0
  virtual void on_epoch_end(Model&, int64_t /*epoch*/, const Scores&) {}  ///< the epoch's scores, with "val_loss", ...
  virtual void on_batch_begin(Model&, int64_t /*step*/) {}                ///< before a step; steps count from 0 in each epoch
  virtual void on_batch_end(Model&, int64_t /*step*/, const Scores&) {}   ///< "loss" of this step alone, metrics over the epoch so far
  virtual CallbackState state() const {
    return {};
  }  ///< what a file has to hold of it, so that fit can go on from there; by default nothing
  virtual void set_state(const CallbackState&) {}  ///< what state() gave: after on_train_begin of a fit that goes on
};
/// A handle on a callback, ours or the user's: `.callbacks = {as::EarlyStopping({.patience = 3}), MyCallback()}`.
class AnyCallback : public detail::ShownByConfig<AnyCallback> {
 public:
  /// A callback, which is moved in, or a shared pointer to one that the caller keeps.
  template <class Own>
    requires std::derived_from<Own, Callback>
  AnyCallback(Own own) : callback_(std::make_shared<Own>(std::move(own))) {}
  template <class Own>
    requires std::derived_from<Own, Callback>
  AnyCallback(std::shared_ptr<Own> own) : callback_(required(std::move(own))) {}  ///< ArgumentError for none
  AnyCallback(const AnyCallback&) = default;                                      ///< also where one is moved: a handle is never empty
  AnyCallback& operator=(const AnyCallback&) = default;
  Callback& operator*() const { return *callback_; }        ///< the callback itself, which copies of the handle share
  Callback* operator->() const { return callback_.get(); }  ///< likewise
  Config config() const;                                    ///< its class and options; a user's class that is not registered says so

 private:
  static std::shared_ptr<Callback> required(std::shared_ptr<Callback> callback);
  std::shared_ptr<Callback> callback_;
};
/// The registry of callbacks.
template <>
Registry& registry_of<AnyCallback>();

/// Whether a lower or a higher value is better; Auto: by the name; one that is no known loss or metric is refused.
enum class Monitor { Auto, Min, Max };

/// By default the whole state is saved after every epoch; with save_best_only after those in which the monitored value is better than ever before.
struct ModelCheckpointOptions {
  std::string monitor = "val_loss";
  bool save_best_only = false;
  bool save_weights_only = false;  ///< as save_weights(): fit cannot go on from such a file
  Monitor mode = Monitor::Auto;
  int64_t save_freq = 0;  ///< after so many steps, whatever the epoch; 0: after every epoch
};
/// Saves what training needs to go on (`.resume_from` of fit), as Model::save does. "{epoch}", from 1 on, and any recorded value, "{val_loss}", are
/// filled in; "{epoch:02d}" and "{loss:.2f}" are formatted as in Python, "{{" is a brace. A field that is not recorded and a folder that is not
/// there are found before training. Its hooks run behind those of all other callbacks: the file has what these did.
class ModelCheckpoint : public Callback {
 public:
  explicit ModelCheckpoint(std::string path, ModelCheckpointOptions options = {});
  const std::string& path() const { return path_; }                   ///< as given, with its fields
  const ModelCheckpointOptions& options() const { return options_; }  ///< as given
  void on_train_begin(Model& model) override;                 ///< ArgumentError for a path, or a monitored value, that cannot be right
  void on_epoch_begin(Model& model, int64_t epoch) override;  ///< notes the epoch, for names
  void on_epoch_end(Model& model, int64_t epoch, const Scores& scores) override;  ///< saves, unless that is done by steps
  void on_batch_end(Model& model, int64_t step, const Scores& scores) override;   ///< saves where save_freq says so
  CallbackState state() const override;                                           ///< the best value, and the steps since the last file
  void set_state(const CallbackState& state) override;                            ///< likewise

 private:
  void save(Model& model, int64_t epoch, const Scores& scores);

  std::string path_;
  ModelCheckpointOptions options_;
  double best_ = 0;
  int64_t epoch_ = 0;
  int64_t steps_ = 0;  ///< since the last file
};

/// A value is better where it is so by more than min_delta. Epochs before start_from_epoch are not looked at.
struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;
  int64_t patience = 0;
  Monitor mode = Monitor::Auto;
  bool restore_best_weights = false;
  int64_t start_from_epoch = 0;
};
/// Stops training when the monitored value has not become better for `patience` epochs, at least one.
class EarlyStopping : public Callback {
 public:
  using Options = EarlyStoppingOptions;
  explicit EarlyStopping(EarlyStoppingOptions options = {});
  const Options& options() const { return options_; }  ///< as given
  void on_train_begin(Model& model) override;          ///< begins anew; ArgumentError where fit does not record the monitored value
  void on_epoch_end(Model& model, int64_t epoch, const Scores& scores) override;  ///< compares with the best value, and stops training
  void on_train_end(Model& model, const History& history) override;  ///< puts the weights of the best epoch back, with restore_best_weights
  CallbackState state() const override;                              ///< the best value, its weights, and how long it is ago
  void set_state(const CallbackState& state) override;               ///< likewise

 private:
  EarlyStoppingOptions options_;
  double best_ = 0;
  int64_t waited_ = 0;
  std::vector<Tensor> best_weights_;
};

/// The factor is between 0 and 1. The rate goes no lower than min_learning_rate; `cooldown` epochs after a reduction are waited as in Keras.
struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;
  int64_t patience = 10;
  Monitor mode = Monitor::Auto;
  double min_delta = 1e-4;
  int64_t cooldown = 0;
  double min_learning_rate = 0;
};
/// Multiplies the learning rate by `factor` when the monitored value has not become better for `patience` epochs.
class ReduceLROnPlateau : public Callback {
 public:
  using Options = ReduceLROnPlateauOptions;
  explicit ReduceLROnPlateau(ReduceLROnPlateauOptions options = {});
  const Options& options() const { return options_; }  ///< as given
  void on_train_begin(Model& model) override;          ///< begins anew; ArgumentError where fit does not record the monitored value
  void on_epoch_end(Model& model, int64_t epoch, const Scores& scores) override;  ///< ArgumentError where a schedule decides the rate
  CallbackState state() const override;                                           ///< the best value, and the epochs since
  void set_state(const CallbackState& state) override;                            ///< likewise

 private:
  ReduceLROnPlateauOptions options_;
  double best_ = 0;
  int64_t waited_ = 0;
  int64_t cooling_ = 0;
};

/// Sets the learning rate before each epoch: to what a callable gives for the epoch, from 0 on, and the rate so far.
class LearningRateScheduler : public Callback {
 public:
  explicit LearningRateScheduler(std::function<double(int64_t epoch, double rate)> schedule);
  const std::function<double(int64_t, double)>& schedule() const { return schedule_; }  ///< as given
  void on_epoch_begin(Model& model, int64_t epoch) override;                            ///< ArgumentError where a schedule decides the rate

 private:
  std::function<double(int64_t, double)> schedule_;
};

/// With append a file that is there is continued; otherwise it is written anew.
struct CSVLoggerOptions {
  char separator = ',';
  bool append = false;
};
/// Writes a line per epoch into a file: the epoch, from 0 on, and every recorded value. The first line has the names.
class CSVLogger : public Callback {
 public:
  explicit CSVLogger(std::filesystem::path file, CSVLoggerOptions options = {});
  const std::filesystem::path& file() const { return file_; }   ///< as given
  const CSVLoggerOptions& options() const { return options_; }  ///< as given
  void on_train_begin(Model& model) override;                   ///< opens the file; ArgumentError where it cannot be written
  void on_epoch_end(Model& model, int64_t epoch, const Scores& scores) override;  ///< writes the line
  CallbackState state() const override;                                           ///< how long the file is
  void set_state(const CallbackState& state) override;                            ///< cuts lines that came later, and goes on behind them

 private:
  std::filesystem::path file_;
  CSVLoggerOptions options_;
  bool is_begun_ = false;  ///< the file is this training's
};

/// Stops training after a step whose loss is NaN or infinite.
class TerminateOnNaN : public Callback {
 public:
  void on_batch_end(Model& model, int64_t step, const Scores& scores) override;  ///< looks at the loss of this step
};

/// A callable for each hook; one that is left out does nothing.
struct LambdaCallbackOptions {
  std::function<void(Model&)> on_train_begin = {};
  std::function<void(Model&, const History&)> on_train_end = {};
  std::function<void(Model&, int64_t epoch)> on_epoch_begin = {};
  std::function<void(Model&, int64_t epoch, const Scores&)> on_epoch_end = {};
  std::function<void(Model&, int64_t step)> on_batch_begin = {};
  std::function<void(Model&, int64_t step, const Scores&)> on_batch_end = {};
};
/// A callback of callables, where your own class is too much.
class LambdaCallback : public Callback {
 public:
  using Options = LambdaCallbackOptions;
  explicit LambdaCallback(LambdaCallbackOptions hooks) : hooks_(std::move(hooks)) {}
  /// The callables, and the hooks that call them.
  ///@{
  const Options& options() const { return hooks_; }
  void on_train_begin(Model& model) override;
  void on_train_end(Model& model, const History& history) override;
  void on_epoch_begin(Model& model, int64_t epoch) override;
  void on_epoch_end(Model& model, int64_t epoch, const Scores& scores) override;
  void on_batch_begin(Model& model, int64_t step) override;
  void on_batch_end(Model& model, int64_t step, const Scores& scores) override;
  ///@}

 private:
  LambdaCallbackOptions hooks_;
};

}  // namespace anyshape
#pragma GCC visibility pop
