// Images read between their pixels.
#pragma once
#include <anyshape/layers/augmentation.h>
#include <anyshape/tensor.h>

namespace anyshape::nn {

// Where each pixel of a result comes from: rows and columns as numbers, whole ones in the middle of a pixel; what broadcasts to [batch, height, width].
struct Coordinates {
  Tensor rows, columns;
};

struct Sampling {
  FillMode fill_mode;
  Interpolation interpolation;
  double fill_value;
};

// The images [batch, height, width, channels] there: [batch, height, width, channels].
Tensor sample_images(const Tensor& images, const Coordinates& at, const Sampling& sampling);

}  // namespace anyshape::nn
