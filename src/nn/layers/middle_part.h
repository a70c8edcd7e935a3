// The middle of images, by a size or by a shape.
#pragma once
#include <anyshape/tensor.h>

namespace anyshape::nn {

// The middle height x width pixels of images [batch, height, width, channels]. ShapeError, under this name, for images that are smaller.
Tensor middle_part(const Tensor& images, int64_t height, int64_t width, const char* owner);
// The largest middle part whose sides are to each other as these, as Keras cuts it.
Tensor middle_of_ratio(const Tensor& images, int64_t height, int64_t width);

}  // namespace anyshape::nn
