// What all networks for images begin and end with.
#pragma once
#include <anyshape/applications.h>

namespace anyshape::applications {

// ArgumentError or ShapeError, under the network's name, for options that no network has.
Tensor image_input(const char* network, const ApplicationOptions& options);

// What `pooling` makes of the last image.
Tensor pooled(const Tensor& image, const ApplicationOptions& options);

Model finished(const char* network, const ApplicationOptions& options, const Tensor& image, const Tensor& result);

}  // namespace anyshape::applications
