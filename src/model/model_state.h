// A model beside its layers: how it was compiled, the functions that run it, and what a fit in progress knows.
#pragma once
#include "function/random_state.h"
#include "nn/network.h"

#include <anyshape/model.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace anyshape {

struct Model::State {
  using TrainStep = Function<Tensor(AnyLayer, Optimizer, Batch)>;
  using EvaluateStep = Function<Tensor(AnyLayer, Batch)>;
  using PredictStep = Function<std::vector<Tensor>(AnyLayer, std::vector<Tensor>)>;

  std::optional<CompileOptions> compiled;
  Shapes shapes = Shapes::Symbolic;
  std::optional<TrainStep> train_step;
  std::optional<EvaluateStep> evaluate_step;
  std::optional<PredictStep> predict_step;
  std::atomic<bool> stop{false};  // training ends after this step
  std::atomic<bool> is_fitting{false};
  std::vector<std::string> recorded;  // by the fit that runs: what callbacks may monitor; empty where none runs

  static State& of(const Model& model, const char* what);  // ArgumentError for an empty handle
  // The model of a network and its state: what a step of the user's own is given. The step is held by the state, so it holds it weakly.
  static Model handle(const AnyLayer& network, const std::weak_ptr<State>& state);
};

namespace model {

const CompileOptions& require_compiled(const Model& model, const char* what);  // ArgumentError before compile()
std::vector<Tensor> call_network(const AnyLayer& network, const std::vector<Tensor>& inputs, bool training);

Model::State::TrainStep make_train_step(const std::shared_ptr<Model::State>& state);
Model::State::EvaluateStep make_evaluate_step(const CompileOptions& options, Shapes shapes);
Model::State::PredictStep make_predict_step(Shapes shapes);

const Loss& loss_of(const CompileOptions& options, size_t output);
// In the dtype that a built-in loss takes: class numbers, or the prediction's, so that another dtype of the data is no other trace.
Tensor cast_target(const AnyLayer& network, const CompileOptions& options, size_t output, const Tensor& target);

// A step, compiled or, with run_eagerly, op by op; it draws the same random numbers either way.
template <class R, class... Args, class... Given>
R run_step(const Function<R(Args...)>& step, bool run_eagerly, const Given&... arguments) {
  if (!run_eagerly) return step(arguments...);
  const function_detail::RandomScope scope;
  return step.callable()(arguments...);
}

}  // namespace model
}  // namespace anyshape
