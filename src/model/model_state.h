// A model beside its layers: how it was compiled, the functions that run it, and what a fit in progress knows.
#pragma once
#include "nn/network.h"

#include <anyshape/model.h>

#include <atomic>
#include <optional>
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
};

namespace model {

const CompileOptions& require_compiled(const Model::State& state, const char* what);  // ArgumentError before compile()
std::vector<Tensor> call_network(const AnyLayer& network, const std::vector<Tensor>& inputs, bool training);

Model::State::TrainStep make_train_step(const CompileOptions& options, Shapes shapes, const Model& model);
Model::State::EvaluateStep make_evaluate_step(const CompileOptions& options, Shapes shapes);
Model::State::PredictStep make_predict_step(Shapes shapes);

void cast_targets(const CompileOptions& options, Batch& batch);  // to the dtype that a built-in loss declares

}  // namespace model
}  // namespace anyshape
