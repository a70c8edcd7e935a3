// A file of weights into a built network: found by name or by kind, turned into our layout, held to the weights' shapes, and all of them assigned
// or none.
#pragma once
#include <anyshape/layer.h>
#include <anyshape/weights.h>

#include <filesystem>

namespace anyshape::model {

LoadReport load_weights(const AnyLayer& network, const std::filesystem::path& file, const LoadOptions& options);

}  // namespace anyshape::model
