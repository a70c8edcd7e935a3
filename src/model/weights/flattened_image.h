// Where a layer reads an image that was flattened: PyTorch flattens one with its channels first, and the shapes fit all the same.
#pragma once
#include <anyshape/layer.h>

#include <optional>

namespace anyshape::model {

// What the child's input was flattened from, [batch, ..., channels], where a network of ours tells it; nothing where no order is in question.
std::optional<Shape> flattened_image(const AnyLayer& network, size_t child);

}  // namespace anyshape::model
