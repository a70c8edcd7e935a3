// Models: layers put together, with compile, fit, evaluate and predict.
#pragma once
#include <anyshape/callback.h>
#include <anyshape/dataset.h>
#include <anyshape/function.h>
#include <anyshape/history.h>
#include <anyshape/layer.h>
#include <anyshape/loss.h>
#include <anyshape/metric.h>
#include <anyshape/optimizer.h>
#include <anyshape/per_output.h>
#include <anyshape/weights.h>

#include <concepts>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

class Model;

/// Data that is given by name finds the input by its name.
struct InputOptions {
  std::string name = {};
  Dtype dtype = Dtype::f32;
  bool ragged = false;  ///< the first size after the batch is the rows' own
};
/// A placeholder for the functional spelling: layers and ops called on it describe a model. Sizes are those of one row; as::dynamic leaves one open.
Tensor input(const Shape& row, InputOptions options = {});

/// A model from placeholders to what is computed of them. Without a name it is "model".
struct FunctionalOptions {
  std::vector<Tensor> inputs;
  PerOutput<Tensor> outputs;  ///< without a name: that of the layer that makes it
  std::string name = {};
};

/// What a step works on: rows of inputs and targets, in the model's order, and their weights. A step of the user's own gets the targets that are
/// given, some, none, or more than there are outputs.
struct Batch {
  std::vector<Tensor> x;
  std::vector<Tensor> y = {};
  std::vector<Tensor> sample_weight = {};  ///< none; one, which holds for every target; or one per target
};

/// What a step of the user's own gives: the loss, and what else is to be reported: means over the rows of an epoch, by name.
struct StepResult {
  StepResult(Tensor value, std::vector<std::pair<std::string, Tensor>> reported = {})
      : loss(std::move(value)), metrics(std::move(reported)) {}
  Tensor loss;
  std::vector<std::pair<std::string, Tensor>> metrics;
};

/// A step of the user's own instead of the built-in one: updates the model and gives the loss, as a Tensor or a StepResult. It takes the model,
/// the optimizer and the batch; or, where there is one input and one target and no weights, those two tensors instead of the batch.
class StepFunction {
 public:
  StepFunction() = default;
  /// A step on the model, the optimizer and the batch.
  template <class Callable>
    requires std::is_invocable_r_v<StepResult, const Callable&, Model&, Optimizer&, const Batch&>
  StepFunction(Callable callable) : step_(std::move(callable)) {}
  /// A step on the model, the optimizer, the input and the target.
  template <class Callable>
    requires std::is_invocable_r_v<StepResult, const Callable&, Model&, Optimizer&, const Tensor&, const Tensor&>
  StepFunction(Callable callable) : pair_(std::move(callable)) {}

  explicit operator bool() const { return step_ || pair_; }  ///< false: the built-in step is used
  /// ArgumentError where a step on an input and a target gets several of them, or weights.
  StepResult operator()(Model& model, Optimizer& optimizer, const Batch& batch) const;

 private:
  std::function<StepResult(Model&, Optimizer&, const Batch&)> step_;
  std::function<StepResult(Model&, Optimizer&, const Tensor&, const Tensor&)> pair_;
};

/// Every output has a loss and a target, but one that is only predicted: .losses = {{"price", "mse"}, {"scores", {}}}. A step of the user's own needs
/// neither. weighted_metrics count sample weights, metrics do not. run_eagerly: no trace.
struct CompileOptions {
  Optimizer optimizer = "rmsprop";
  Loss loss = {};
  PerOutput<Metric> metrics = {};       ///< one without a name is taken of every output that has a loss
  PerOutput<Loss> losses = {};          ///< by position or by name; an output that is not named has `loss`
  PerOutput<double> loss_weights = {};  ///< of the outputs' losses in the sum; 1 for one that is not named
  PerOutput<Metric> weighted_metrics = {};
  StepFunction step = {};
  bool run_eagerly = false;
};

/// Auto: a bar on a terminal, a line per epoch elsewhere.
enum class Verbose { Auto, Silent, Line, Bar };

/// Tensors, or a dataset; ArgumentError for both.
struct ValidationData {
  Data x = {};
  Data y = {};
  Data sample_weight = {};
  std::optional<Dataset> dataset = {};
};

/// How fit() trains. A dataset has batches and weights of its own: batch_size and shuffle hold for tensors, and for the images of a folder, which come one
/// by one and are grouped by shape; validation_split and sample_weight need tensors.
struct FitOptions {
  int64_t batch_size = 32;
  int64_t epochs = 1;
  Verbose verbose = Verbose::Auto;
  std::vector<AnyCallback> callbacks = {};
  double validation_split = 0;  ///< the share of rows, the last ones, that is kept for validation
  ValidationData validation_data = {};
  bool shuffle = true;  ///< the rows of tensors, or the images of a folder, anew in each epoch; other datasets have their own
  std::map<int64_t, double> class_weight = {};  ///< 1 for a class that is not listed
  Data sample_weight = {};                      ///< [rows], or [rows, time] for losses per position; {{"price", w}}: of that output
  std::optional<int64_t> seed = {};             ///< of the order and of all that training draws; none: the process's numbers go on
  Shapes shapes = Shapes::Symbolic;             ///< what people look for under the name relax_shapes
  /// A file that ModelCheckpoint, or save() in a callback, made of this training: it goes on from there bit for bit, with the same data and options.
  /// `epochs` counts those before, too. FormatError, before anything is changed, for a file that does not fit.
  std::filesystem::path resume_from = {};
};
/// How evaluate() goes through the data. sample_weight needs tensors: a dataset has its own.
struct EvaluateOptions {
  int64_t batch_size = 32;
  Verbose verbose = Verbose::Auto;
  Data sample_weight = {};
};
/// How predict() goes through the data; batch_size holds for tensors, and for the images of a folder.
struct PredictOptions {
  int64_t batch_size = 32;
  Verbose verbose = Verbose::Silent;
};

/// A handle: copies share the network and how it is trained. What changes the model takes one that is not const; a const one predicts and
/// evaluates.
class Model : public AnyLayer {
 public:
  Model() = default;
  explicit Model(FunctionalOptions options);
  /// Your own layer, trained as a model.
  template <class Own>
    requires std::derived_from<Own, Layer>
  explicit Model(Own own) : Model(anyshape::layer(std::move(own))) {}
  explicit Model(const AnyLayer& network);  ///< any layer can be trained as a model

  void compile(CompileOptions options);  ///< sets how it is trained, weights stay; ArgumentError while fit runs
  /// Trains, and gives the scores of each epoch; those of validation are "val_loss", ... Ctrl-C ends it after the step in progress. ArgumentError
  /// before compile(), and for a dataset without batches or without end.
  ///@{
  History fit(const Data& x, const Data& y, FitOptions options = {});
  History fit(const Dataset& data, FitOptions options = {});
  ///@}
  /// Loss and metrics over all of the data, one pass; weights stay. ArgumentError before compile().
  ///@{
  Scores evaluate(const Data& x, const Data& y, EvaluateOptions options = {}) const;
  Scores evaluate(const Dataset& data, EvaluateOptions options = {}) const;
  ///@}
  Tensor predict(const Data& x, PredictOptions options = {}) const;  ///< of a model with one output
  Tensor predict(const Dataset& data,
                 PredictOptions options = {}) const;  ///< the results of all batches as one; of a folder's images in their order
  Outputs predict_outputs(const Data& x, PredictOptions options = {}) const;  ///< every output, by name
  Outputs predict_outputs(const Dataset& data,
                          PredictOptions options = {}) const;  ///< the results of all batches as one; of a folder's images in their order
  /// One step on all rows; gives its loss and metrics. ArgumentError before compile().
  Scores train_on_batch(const Data& x, const Data& y, const Data& sample_weight = {});
  /// The compiled step; its ledger tells every trace. ArgumentError before compile().
  Function<Tensor(AnyLayer, Optimizer, Batch)> train_step();

  std::string summary() const;                    ///< a table of layers, their results and parameters; "?" for what is known after build()
  AnyLayer layer(const std::string& name) const;  ///< "dense_1", or a path into layers: "encoder/dense_1"
  Optimizer optimizer();                          ///< ArgumentError before compile()
  Model clone() const;                            ///< a model of its own with the same weights, not compiled
  void save_weights(const std::filesystem::path& file) const;  ///< safetensors, whole or not at all
  /// All of it in one safetensors file, whole or not at all: weights, architecture, how it was compiled, the optimizer's state, random numbers, and in
  /// a callback how far the fit is. ArgumentError for a layer that no config can make: a class that is not registered, a callable.
  void save(const std::filesystem::path& file) const;
  /// Into a built model, by name, from a file of save_weights() or save(); ArgumentError before that. FormatError, and nothing is changed, where a
  /// strict load does not fit. Weights of PyTorch modules: .layout and .names (weights.h).
  LoadReport load_weights(const std::filesystem::path& file, LoadOptions options = {});
  void stop_training();  ///< after this step; for callbacks

  struct State;

 private:
  std::shared_ptr<State> state_;
};

/// Layers one after the other.
class Sequential : public Model {
 public:
  template <class... Layers>
  explicit Sequential(Layers... layers) : Sequential(std::vector<AnyLayer>{anyshape::layer(std::move(layers))...}) {}
  explicit Sequential(const std::vector<AnyLayer>& layers);
  void add(const AnyLayer& layer);  ///< behind the others
};

/// The model that save() wrote: built, with its weights, and compiled where a file can say how; what has to be compiled anew is told as a warning, and
/// by fit. FormatError for a file that is damaged, newer than the library, hostile, or has classes that are not registered.
Model load_model(const std::filesystem::path& file);

}  // namespace anyshape
#pragma GCC visibility pop
