// Fields of data in the order in which the model takes them: by position, or by the names of its inputs and outputs.
#pragma once
#include "nn/network.h"

#include <anyshape/dataset.h>

#include <string>
#include <vector>

namespace anyshape::model {

std::vector<std::string> input_names(const AnyLayer& network);  // empty where nothing is declared of them

// ArgumentError for a name that the model does not have, with the near ones, and for a number of fields that is not the names'.
// `what` is who asks and `kind` what is named: "fit", "input".
std::vector<Tensor> ordered_fields(const char* what, const char* kind, const Data& data, const std::vector<std::string>& names);

// Those of the names that the data has fields for, in the names' order: all for as many fields without names, none for another number of them.
// ArgumentError as above.
std::vector<std::string> named_fields(const char* what, const char* kind, const Data& data, const std::vector<std::string>& names);

// One tensor that holds for every output, or one per output: 1 for an output that is not named. ArgumentError as above.
std::vector<Tensor> ordered_weights(const char* what, const Data& weights, const std::vector<std::string>& outputs);

// Inputs as the network takes them: held to what it declares, and numbers [n] as [n, 1] where it declares nothing and its first layer takes
// no ids, as in Keras.
std::vector<Tensor> model_inputs(const AnyLayer& network, std::vector<Tensor> inputs);

}  // namespace anyshape::model
