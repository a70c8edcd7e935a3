// How layers were made, those inside included.
#pragma once
#include <anyshape/config.h>
#include <anyshape/layer.h>

namespace anyshape::nn {

Config layer_config(const AnyLayer& layer);  // weights, and what was learned or frozen, are no part of it
// Of the layer as a child of a network, with the name it has there: names are parts of the paths of weights.
Config child_config(const detail::LayerState& parent, size_t child);

}  // namespace anyshape::nn
