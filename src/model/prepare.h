// What stands before the first step: a model with weights, optimizer slots, and step functions.
#pragma once
#include "model/model_state.h"

#include <memory>
#include <vector>

namespace anyshape::model {

// What evaluate and predict run: handles of their own, so that a fit that begins meanwhile may make other steps.
struct Prepared {
  Model::State::PredictStep predict_step;
  std::shared_ptr<Evaluations> evaluations;  // null where the model is not compiled
  bool run_eagerly;
};

// Builds the model from inputs of the data where it is not built yet. Its steps are made anew where `shapes` is not what they were made for.
// One thread prepares at a time; the others find what it made.
Prepared prepare_model(const Model& model, const std::shared_ptr<Model::State>& state, Shapes shapes, const std::vector<Tensor>& sample);
// Likewise with the shapes that the steps are made for.
Prepared prepare_model(const Model& model, const std::shared_ptr<Model::State>& state, const std::vector<Tensor>& sample);

// Makes the optimizer's slots of the weights that are trained, named by the weights' paths, so that reports and files tell them apart.
void build_slots(Optimizer optimizer, const Model& model);

// A call that leaves no mark, as a trace leaves none: it draws no number of the run's and changes no variable, but builds what is not built.
std::vector<Tensor> call_on_sample(const Model& model, const std::vector<Tensor>& sample);

}  // namespace anyshape::model
