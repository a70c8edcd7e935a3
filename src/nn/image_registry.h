// Layers of images by name.
#pragma once
#include <anyshape/registry.h>

namespace anyshape::nn {

void add_image_layers(Registry& registry);
void add_random_layers(Registry& registry);

}  // namespace anyshape::nn
