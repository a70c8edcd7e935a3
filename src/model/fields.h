// Fields of data in the order in which the model takes them: by position, or by the names of its inputs and outputs.
#pragma once
#include "nn/network.h"

#include <anyshape/dataset.h>

#include <string>
#include <vector>

namespace anyshape::model {

std::vector<std::string> input_names(const AnyLayer& network);   // empty where the network has no names for them
std::vector<std::string> output_names(const AnyLayer& network);  // likewise

// ArgumentError for a name that the model does not have, with the near ones, and for a number of fields that is not the names'.
// `what` is who asks and `kind` what is named: "fit", "input".
std::vector<Tensor> ordered_fields(const char* what, const char* kind, const Data& data, const std::vector<std::string>& names);

}  // namespace anyshape::model
