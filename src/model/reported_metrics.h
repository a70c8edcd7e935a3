// The metrics of a compiled model, and the names under which they and the loss are reported.
#pragma once
#include <anyshape/model.h>

#include <string>
#include <vector>

namespace anyshape::model {

// Makes the metrics the model's own, one per output, each with a name that no other value has: "accuracy", "left_accuracy", "accuracy_1".
void make_own_metrics(CompileOptions& options, const std::vector<std::string>& outputs);

std::vector<std::string> reported_names(const CompileOptions& options);  // "loss", then the metrics

}  // namespace anyshape::model
