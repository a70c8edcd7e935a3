// Inputs, poolings and names of the networks.
#include "model/applications/head.h"

#include <anyshape/error.h>
#include <anyshape/layers/image.h>

#include <fmt/format.h>

namespace anyshape::applications {

Tensor image_input(const char* network, const ApplicationOptions& options) {
  const Shape& shape = options.input_shape;
  if (shape.rank() != 3 || !shape[2].is_constant()) {
    throw ShapeError(
        fmt::format("{}: input_shape is {}; expected [height, width, channels] with a number of channels.", network, to_string(shape)));
  }
  if (options.classes < 1) throw ArgumentError(fmt::format("{}: classes is {}; expected at least 1.", network, options.classes));
  if (!options.pooling.empty() && options.pooling != "avg" && options.pooling != "max")
    throw ArgumentError(fmt::format("{}: pooling is \"{}\"; expected \"avg\", \"max\" or none.", network, options.pooling));
  return input(shape, {.name = "input_layer"});
}

Tensor pooled(const Tensor& image, const ApplicationOptions& options) {
  if (options.pooling == "avg") return GlobalAveragePooling2D({.name = "avg_pool"})(image);
  if (options.pooling == "max") return GlobalMaxPooling2D({.name = "max_pool"})(image);
  return image;
}

Model finished(const char* network, const ApplicationOptions& options, const Tensor& image, const Tensor& result) {
  return Model({.inputs = {image}, .outputs = {result}, .name = options.name.empty() ? network : options.name});
}

}  // namespace anyshape::applications
