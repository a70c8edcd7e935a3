// Weights by names of their own: the path of their layers and the weight's name, "encoder/dense_1/kernel".
#pragma once
#include <anyshape/layer.h>

#include <string>
#include <utility>
#include <vector>

namespace anyshape::nn {

// In the order of variables(); a shared weight once, under its first path.
std::vector<std::pair<std::string, Variable>> named_weights(const AnyLayer& layer);
// Likewise what layers keep beside weights: how often random numbers of their own were drawn.
std::vector<std::pair<std::string, Variable>> named_counters(const AnyLayer& layer);

}  // namespace anyshape::nn
