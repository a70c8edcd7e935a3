// Callbacks: what runs between epochs and steps of fit.
#pragma once
#include <anyshape/history.h>
#include <anyshape/tensor.h>

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

class Model;

// Derive from this for hooks of one's own; every one may be left out.
class Callback {
 public:
  virtual ~Callback() = default;
  virtual void on_train_begin(Model&) {}
  virtual void on_train_end(Model&, const History&) {}
  virtual void on_epoch_begin(Model&, int64_t /*epoch*/) {}
  virtual void on_epoch_end(Model&, int64_t /*epoch*/, const Scores&) {}
  virtual void on_batch_begin(Model&, int64_t /*step*/) {}
  virtual void on_batch_end(Model&, int64_t /*step*/, const Scores&) {}
};
// A handle on a callback, ours or the user's: `.callbacks = {as::EarlyStopping({.patience = 3}), MyCallback()}`.
class AnyCallback {
 public:
  template <class Own>
    requires std::derived_from<Own, Callback>
  AnyCallback(Own own) : callback_(std::make_shared<Own>(std::move(own))) {}
  template <class Own>
    requires std::derived_from<Own, Callback>
  AnyCallback(std::shared_ptr<Own> own) : callback_(std::move(own)) {}
  Callback& operator*() const { return *callback_; }
  Callback* operator->() const { return callback_.get(); }

 private:
  std::shared_ptr<Callback> callback_;
};

enum class Monitor { Auto, Min, Max };  // Auto: by the name; one that is no known loss or metric is refused

struct ModelCheckpointOptions {
  std::string monitor = "val_loss";
  bool save_best_only = false;
  Monitor mode = Monitor::Auto;
};
class ModelCheckpoint : public Callback {  // saves weights after an epoch; "{epoch}" and "{val_loss}" in the path are filled in
 public:
  explicit ModelCheckpoint(std::string path, ModelCheckpointOptions options = {});
  void on_train_begin(Model& model) override;
  void on_epoch_end(Model& model, int64_t epoch, const Scores& scores) override;

 private:
  std::string path_;
  ModelCheckpointOptions options_;
  double best_ = 0;
};

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;
  int64_t patience = 0;
  Monitor mode = Monitor::Auto;
  bool restore_best_weights = false;
  int64_t start_from_epoch = 0;
};
class EarlyStopping : public Callback {
 public:
  explicit EarlyStopping(EarlyStoppingOptions options = {});
  void on_train_begin(Model& model) override;
  void on_epoch_end(Model& model, int64_t epoch, const Scores& scores) override;
  void on_train_end(Model& model, const History& history) override;

 private:
  EarlyStoppingOptions options_;
  double best_ = 0;
  int64_t waited_ = 0;
  std::vector<Tensor> best_weights_;
};

struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;
  int64_t patience = 10;
  Monitor mode = Monitor::Auto;
  double min_delta = 1e-4;
  int64_t cooldown = 0;
  double min_learning_rate = 0;
};
class ReduceLROnPlateau : public Callback {
 public:
  explicit ReduceLROnPlateau(ReduceLROnPlateauOptions options = {});
  void on_train_begin(Model& model) override;
  void on_epoch_end(Model& model, int64_t epoch, const Scores& scores) override;

 private:
  ReduceLROnPlateauOptions options_;
  double best_ = 0;
  int64_t waited_ = 0;
  int64_t cooling_ = 0;
};

class LearningRateScheduler : public Callback {
 public:
  explicit LearningRateScheduler(std::function<double(int64_t epoch, double rate)> schedule) : schedule_(std::move(schedule)) {}
  void on_epoch_begin(Model& model, int64_t epoch) override;

 private:
  std::function<double(int64_t, double)> schedule_;
};

struct CSVLoggerOptions {
  char separator = ',';
  bool append = false;
};
class CSVLogger : public Callback {
 public:
  explicit CSVLogger(std::filesystem::path file, CSVLoggerOptions options = {});
  void on_train_begin(Model& model) override;
  void on_epoch_end(Model& model, int64_t epoch, const Scores& scores) override;

 private:
  std::filesystem::path file_;
  CSVLoggerOptions options_;
};

class TerminateOnNaN : public Callback {
 public:
  void on_batch_end(Model& model, int64_t step, const Scores& scores) override;
};

struct LambdaCallbackOptions {
  std::function<void(Model&)> on_train_begin = {};
  std::function<void(Model&, const History&)> on_train_end = {};
  std::function<void(Model&, int64_t epoch)> on_epoch_begin = {};
  std::function<void(Model&, int64_t epoch, const Scores&)> on_epoch_end = {};
  std::function<void(Model&, int64_t step)> on_batch_begin = {};
  std::function<void(Model&, int64_t step, const Scores&)> on_batch_end = {};
};
class LambdaCallback : public Callback {
 public:
  explicit LambdaCallback(LambdaCallbackOptions hooks) : hooks_(std::move(hooks)) {}
  void on_train_begin(Model& model) override;
  void on_train_end(Model& model, const History& history) override;
  void on_epoch_begin(Model& model, int64_t epoch) override;
  void on_epoch_end(Model& model, int64_t epoch, const Scores& scores) override;
  void on_batch_begin(Model& model, int64_t step) override;
  void on_batch_end(Model& model, int64_t step, const Scores& scores) override;

 private:
  LambdaCallbackOptions hooks_;
};

}  // namespace anyshape
#pragma GCC visibility pop
