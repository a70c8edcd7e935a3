// Images read at places between their pixels.
#pragma once
#include <anyshape/layers/augmentation.h>
#include <anyshape/tensor.h>

namespace anyshape::nn {

// Where each pixel of a result comes from, in pixels from the middle of the first one; what broadcasts to [batch, height, width].
struct SourcePlaces {
  Tensor rows, columns;
};

struct Sampling {
  FillMode fill_mode;
  Interpolation interpolation;
  double fill_value;
};

// The images [batch, height, width, channels] at those places: [batch, height, width, channels].
Tensor sample_images(const Tensor& images, const SourcePlaces& places, const Sampling& sampling);

}  // namespace anyshape::nn
