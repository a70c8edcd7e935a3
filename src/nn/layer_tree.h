// What a network is beside its config: names, what its layers were built on, what is frozen. The part of a model's file from which a network that
// was made of the config becomes the one that was saved.
#pragma once
#include <anyshape/config.h>
#include <anyshape/layer.h>

namespace anyshape::nn {

Config layer_tree(const AnyLayer& network);

// Names, builds and freezes the layers of a network that was just made of the same config. ArgumentError where the tree is not the network's. Inside a
// LoadingScope weights that are made take no memory. `default_dtype_here` is the process's: a layer that had another one by default keeps that.
void restore_layer_tree(const AnyLayer& network, const Config& tree, Dtype default_dtype_here);

}  // namespace anyshape::nn
