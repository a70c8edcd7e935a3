// What is made sure before a step runs: the model is built, the data complete, the targets in their dtype.
#pragma once
#include "model/model_state.h"

#include <anyshape/model.h>

#include <map>

namespace anyshape::model {

// DataError for NaN in a floating input, with its column and count, unless the first layer takes missing values.
void require_present(const Model& model, const char* what, const Data& x);

// Builds the model from the data's shapes, makes optimizer slots and the step functions.
void prepare_model(const Model& model, Model::State& state, Shapes shapes, const Data& x);

// Casts targets, turns class weights into sample weights, and refuses NaN in batches of a dataset.
void prepare_batch(const AnyLayer& network, const CompileOptions& options, const std::map<int64_t, double>& class_weight, Batch& batch,
                   int64_t first_row);

}  // namespace anyshape::model
