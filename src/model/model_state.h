// A model beside its layers: how it was compiled, the functions that run it, and what a fit in progress knows.
#pragma once
#include "base/user_code_mutex.h"
#include "function/random_state.h"
#include "graph/variable_undo.h"
#include "model/compiled.h"
#include "model/evaluations.h"
#include "model/loss_parts.h"
#include "model/output_facts.h"
#include "nn/network.h"

#include <anyshape/model.h>

#include <atomic>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace anyshape {

namespace model {

struct ModelParts;

// A fit that runs: what a file has to hold of it, so that another one goes on from there.
class FitInProgress {
 public:
  virtual ~FitInProgress() = default;
  virtual void save(ModelParts& parts, std::vector<std::pair<std::string, Tensor>>& tensors) const = 0;
};

}  // namespace model

struct Model::State {
  using TrainStep = Function<Tensor(AnyLayer, Optimizer, Batch)>;
  using PredictStep = Function<std::vector<Tensor>(AnyLayer, std::vector<Tensor>)>;

  // Held while the model is built and its steps are made or dropped; a layer may predict with the model that it is part of.
  UserCodeMutex preparing;
  std::optional<model::Compiled> compiled;
  Shapes shapes = Shapes::Symbolic;
  std::optional<TrainStep> train_step;
  std::optional<PredictStep> predict_step;
  std::shared_ptr<model::Evaluations> evaluations;
  std::shared_ptr<model::PartsReport> train_parts;  // what the train step leaves; made with compile()
  std::optional<model::KnownFacts> output_facts;    // of the last inputs that were looked at; under `preparing`
  std::atomic<bool> stop{false};                    // training ends after this step
  std::atomic<bool> is_fitting{false};
  std::atomic<const void*> fit_thread = nullptr;  // of the fit that runs; only there it may be asked
  const model::FitInProgress* fit = nullptr;
  std::vector<std::string> not_saved;  // by the file that it was loaded from: what compile() has to be given anew
  std::string tried_architecture;      // the config, as JSON, of which save() has seen that it makes the network; under `preparing`
  std::vector<std::string> recorded;   // by the fit that runs: what callbacks may monitor; empty where none runs or only its steps tell

  static State& of(const Model& model, const char* what);  // ArgumentError for an empty handle
  // The model of a network and its state: what a step of the user's own is given. The step is held by the state, so it holds it weakly.
  static Model handle(const AnyLayer& network, const std::weak_ptr<State>& state);
};

namespace model {

// Replaces a part of the state such that a child of a fork finds the one or the other; what was there ends outside, as the user's may be in it.
template <class T>
void put(T& target, std::type_identity_t<T> value) {
  const NoFork whole;
  std::swap(target, value);
}

const Compiled& require_compiled(const Model& model, const char* what);  // ArgumentError before compile()

Model::State::TrainStep make_train_step(const std::shared_ptr<Model::State>& state);
Evaluation::Step make_evaluate_step(const Compiled& compiled, const std::shared_ptr<PartsReport>& parts, Shapes shapes);
Model::State::PredictStep make_predict_step(Shapes shapes);

// In the dtype that a built-in loss takes: class numbers, or the prediction's, so that another dtype of the data is no other trace.
Tensor cast_target(const AnyLayer& network, const Compiled& compiled, size_t output, const Tensor& target);

// A step, compiled or, with run_eagerly, op by op; it draws the same random numbers either way, and where it fails changes no variable.
template <class R, class... Args, class... Given>
R run_step(const Function<R(Args...)>& step, bool run_eagerly, const Given&... arguments) {
  if (!run_eagerly) return step(arguments...);
  const function_detail::RandomScope scope;
  VariableUndo undo;
  try {
    return step.callable()(arguments...);
  } catch (...) {
    undo.restore();
    throw;
  }
}

}  // namespace model
}  // namespace anyshape
