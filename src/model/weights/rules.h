// How the weights of one layer are made of the tensors of a module elsewhere: which tensors, their sizes there, and how they are turned.
#pragma once
#include "nn/layer_state.h"

#include <anyshape/tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape::model {

using Sizes = std::vector<int64_t>;

// A tensor of the module: its own name, and its sizes for a weight of ours.
struct Source {
  std::string tensor;
  Sizes sizes;
};

struct Rule {
  std::string weight;  // ours, "kernel" or "query/kernel"
  std::vector<Source> sources;
  std::function<Tensor(const std::vector<Tensor>&)> turn = {};  // none: the one tensor as it is
  std::string says = {};                                        // "a Linear keeps its weight [out, in]", for errors
  std::string part = {};                                        // of a layer whose parts may be modules of their own: "query"
  bool has_level = false;                                       // of a recurrent module: "_l0" follows the tensor's name
};

// What a rule may depend on beside the layer.
struct RuleFacts {
  std::function<bool(const std::string& part)> is_named = {};    // whether a part of the layer is a module by itself
  std::function<bool(const std::string& tensor)> is_there = {};  // whether the module has a tensor
};

// One rule for each weight, in the layer's order. ArgumentError for a layer that computes something else than PyTorch's.
std::vector<Rule> torch_rules(const LayerState& layer, const std::string& path, const RuleFacts& facts);
std::vector<Rule> own_rules(const LayerState& layer);  // a file of ours: every weight as it is

// For a Dense layer behind an image [channels, ...] that PyTorch flattened: its rows in the order of the same image with the channels last.
void take_flattened(Rule& kernel, const Sizes& image);

std::string to_text(const Sizes& sizes);  // "[2, 3]"
Sizes sizes_of(const Variable& variable);

}  // namespace anyshape::model
