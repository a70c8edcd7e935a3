// What a layer's call gives, asked without data: the call is traced on symbolic sizes. Builds the layers it meets.
#pragma once
#include <anyshape/layer.h>
#include <anyshape/spec.h>

#include <span>

namespace anyshape::nn {

TensorSpec result_spec(const AnyLayer& layer, std::span<const TensorSpec> inputs, LayerCallOptions options = {});

// Inside result_spec no size has a value that a weight could have: ShapeError naming the weight.
void require_known_size(const Layer& layer, const std::string& weight, const Dim& size);

}  // namespace anyshape::nn
