// What stands before the first step: a model with weights, optimizer slots, and step functions.
#pragma once
#include "model/model_state.h"

#include <memory>
#include <vector>

namespace anyshape::model {

// Builds the model from inputs of the data where it is not built yet. Its steps are made anew where `shapes` is not what they were made for.
void prepare_model(const Model& model, const std::shared_ptr<Model::State>& state, Shapes shapes, const std::vector<Tensor>& sample);

}  // namespace anyshape::model
