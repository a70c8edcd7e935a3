// What layers that change images at random have in common: they work in training only, in their dtype, with numbers of their own for each image.
#pragma once
#include "nn/layers/spatial.h"
#include "nn/notes.h"
#include "nn/own_numbers.h"

#include <anyshape/layers/augmentation.h>
#include <anyshape/ops.h>

namespace anyshape::nn {

class RandomLayer : public Layer {
 public:
  RandomLayer(const char* type, std::optional<int64_t> seed) : Layer(type), numbers_(seed) {}

  void build(const Shape&) override { numbers_.build(*this); }

  Tensor call(const Tensor& x, const CallContext& context) override {
    require_spatial(*this, x, 2);
    const Tensor images = cast(x, dtype());
    return with_mask(context.training ? changed(images) : unchanged(images), {});
  }

 protected:
  virtual Tensor changed(const Tensor& images) = 0;
  virtual Tensor unchanged(const Tensor& images) { return images; }

  // A number for each image, of f32 or f64, between these; [batch, 1, 1, 1].
  Tensor draw(const Tensor& images, double lower, double upper) const {
    return numbers_.uniform({images.shape()[0], 1, 1, 1}, images.dtype()) * (upper - lower) + lower;
  }

 private:
  OwnNumbers numbers_;
};

}  // namespace anyshape::nn
