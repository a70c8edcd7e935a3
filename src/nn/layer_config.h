// How layers were made, those inside included.
#pragma once
#include <anyshape/config.h>
#include <anyshape/layer.h>
#include <anyshape/registry.h>

namespace anyshape::nn {

// Weights and what was learned are no part of it. A layer that is frozen says so in a field "trainable", beside the options of its class.
Config layer_config(const AnyLayer& layer);
// Of the layer as a child of a network, with the name it has there: names are parts of the paths of weights.
Config child_config(const detail::LayerState& parent, size_t child);

// Lets the layers of an entry be made from a config with that field.
void take_trainable(detail::RegistryEntry& entry);

}  // namespace anyshape::nn
