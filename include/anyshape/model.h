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

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

class Model;

struct InputOptions {
  std::string name = {};
  Dtype dtype = Dtype::f32;
  bool ragged = false;  // the first size after the batch is the rows' own
};
// A placeholder for the functional spelling: layers and ops called on it describe a model. Sizes are those of one row; as::dynamic leaves one open.
Tensor input(const Shape& row, InputOptions options = {});

struct FunctionalOptions {
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::string name = {};
};

// What a step works on: rows of inputs and targets, and their weights.
struct Batch {
  std::vector<Tensor> x;
  std::vector<Tensor> y = {};
  std::optional<Tensor> sample_weight = {};
  template <class Visitor>
  void visit(Visitor&& visitor) {
    visitor("x", x);
    visitor("y", y);
    visitor("sample_weight", sample_weight);
  }
};

// A step of the user's own in place of the built-in one: updates the model and gives the loss.
using StepFunction = std::function<Tensor(Model& model, Optimizer& optimizer, const Tensor& x, const Tensor& y)>;

struct CompileOptions {
  Optimizer optimizer = "rmsprop";
  Loss loss = {};
  std::vector<Metric> metrics = {};
  std::vector<Loss> losses = {};  // one per output, in place of `loss`
  std::vector<double> loss_weights = {};
  std::vector<Metric> weighted_metrics = {};
  StepFunction step = {};
  bool run_eagerly = false;
};

enum class Verbose { Auto, Silent, Line, Bar };  // Auto: a bar on a terminal, a line per epoch elsewhere

struct ValidationData {
  Data x = {};
  Data y = {};
  std::optional<Dataset> dataset = {};
};

struct FitOptions {
  int64_t batch_size = 32;
  int64_t epochs = 1;
  Verbose verbose = Verbose::Auto;
  std::vector<AnyCallback> callbacks = {};
  double validation_split = 0;  // the share of rows, the last ones, that is kept for validation
  ValidationData validation_data = {};
  bool shuffle = true;                          // the rows of tensors anew in each epoch; a dataset has its own
  std::map<int64_t, double> class_weight = {};  // 1 for a class that is not listed
  Tensor sample_weight = {};                    // [rows], or [rows, time] for losses per position
  std::optional<int64_t> seed = {};             // of the order and of all that training draws; none: the process's numbers go on
  Shapes shapes = Shapes::Symbolic;             // what people look for under the name relax_shapes
};
struct EvaluateOptions {
  int64_t batch_size = 32;
  Verbose verbose = Verbose::Auto;
  Tensor sample_weight = {};
};
struct PredictOptions {
  int64_t batch_size = 32;
  Verbose verbose = Verbose::Silent;
};
struct LoadOptions {
  bool strict = true;  // every weight of the file and of the model matches; otherwise what fits is taken, and the rest is told
};
struct LoadReport {
  std::vector<std::string> missing;     // weights of the model that the file has not
  std::vector<std::string> unexpected;  // in the file only
  std::vector<std::string> mismatched;  // of another shape or dtype
};

class Model : public AnyLayer {
 public:
  Model() = default;
  explicit Model(FunctionalOptions options);
  template <class Own>
    requires std::derived_from<Own, Layer>
  explicit Model(Own own) : Model(anyshape::layer(std::move(own))) {}
  explicit Model(const AnyLayer& network);  // any layer can be trained as a model

  void compile(CompileOptions options) const;
  History fit(const Data& x, const Data& y, FitOptions options = {}) const;
  History fit(const Dataset& data, FitOptions options = {}) const;
  Scores evaluate(const Data& x, const Data& y, EvaluateOptions options = {}) const;
  Scores evaluate(const Dataset& data, EvaluateOptions options = {}) const;
  Tensor predict(const Data& x, PredictOptions options = {}) const;
  Tensor predict(const Dataset& data, PredictOptions options = {}) const;
  Scores train_on_batch(const Data& x, const Data& y) const;
  // The compiled step; its ledger tells every trace. ArgumentError before compile().
  Function<Tensor(AnyLayer, Optimizer, Batch)> train_step() const;

  std::vector<Tensor> outputs(const std::vector<Tensor>& inputs, LayerCallOptions options = {}) const;  // a call that gives all of them

  std::string summary() const;
  AnyLayer layer(const std::string& name) const;  // "dense_1", or a path into layers: "encoder/dense_1"
  Optimizer optimizer() const;
  Model clone() const;
  void save_weights(const std::filesystem::path& file) const;  // safetensors, whole or not at all
  LoadReport load_weights(const std::filesystem::path& file, LoadOptions options = {}) const;
  void stop_training() const;  // after this step; for callbacks

  struct State;

 private:
  std::shared_ptr<State> state_;
};

// Layers one after the other.
class Sequential : public Model {
 public:
  template <class... Layers>
  explicit Sequential(Layers... layers) : Sequential(std::vector<AnyLayer>{anyshape::layer(std::move(layers))...}) {}
  explicit Sequential(const std::vector<AnyLayer>& layers);
  void add(const AnyLayer& layer) const;
};

}  // namespace anyshape
#pragma GCC visibility pop
