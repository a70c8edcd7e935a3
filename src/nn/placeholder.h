// The functional spelling: tensors that stand for a model's inputs, and what is computed from them, kept as calls to be run later.
#pragma once
#include "graph/op_def.h"
#include "tensor/tensor_impl.h"

#include <anyshape/layer.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace anyshape {

// What a placeholder is the result of. It holds what it was computed from, so temporaries of the spelling stay alive.
struct Placeholder {
  struct Call {
    AnyLayer layer = {};        // or
    const OpDef* op = nullptr;  // neither: an input of the model
    Attrs attrs = {};
    LayerCallOptions options = {};
    std::vector<Tensor> inputs = {};
    std::vector<TensorSpec> results = {};
    bool is_input() const { return op == nullptr && !layer.defined(); }
  };
  std::shared_ptr<const Call> call;
  int output = 0;
  std::string name = {};  // of an input
  bool is_input() const { return call->is_input(); }
};

namespace nn {

inline bool is_placeholder(const Tensor& tensor) { return tensor.impl()->placeholder() != nullptr; }
Tensor make_placeholder(const TensorSpec& spec, Placeholder placeholder);

// Notes the call of a layer on placeholders and gives the placeholders of its results; builds the layer.
std::vector<Tensor> describe_call(const AnyLayer& layer, std::span<const Tensor> inputs, LayerCallOptions options);

}  // namespace nn
}  // namespace anyshape
