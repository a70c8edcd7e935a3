// RandomFlip and RandomCrop: another view of the same pixels.
#include "nn/layers/middle_part.h"
#include "nn/layers/random_layer.h"
#include "nn/make_layer.h"

#include <anyshape/layers/augmentation.h>

namespace anyshape {
namespace {

class RandomFlipLayer final : public nn::RandomLayer {
 public:
  explicit RandomFlipLayer(const nn::FlipFields& fields) : RandomLayer("RandomFlip", fields.seed), mode_(fields.mode) {}

 private:
  Tensor changed(const Tensor& images) override {
    Tensor result = images;
    if (mode_ != FlipMode::Vertical) result = turned(result, 2);
    if (mode_ != FlipMode::Horizontal) result = turned(result, 1);
    return result;
  }
  Tensor turned(const Tensor& images, int axis) const { return where(draw(images, 0, 1) < 0.5, flip(images, axis), images); }

  FlipMode mode_;
};

class RandomCropLayer final : public nn::RandomLayer {
 public:
  RandomCropLayer(int64_t height, int64_t width, const RandomOptions& options)
      : RandomLayer("RandomCrop", options.seed), height_(height), width_(width) {
    nn::require_positive("RandomCrop", "height", height);
    nn::require_positive("RandomCrop", "width", width);
  }

 private:
  Tensor changed(const Tensor& images) override {
    static_cast<void>(nn::middle_part(images, height_, width_, "RandomCrop"));  // refuses images that are too small
    return take(take(images, chosen(images, 1, height_), {.axis = 1, .batch_dims = 1}), chosen(images, 2, width_),
                {.axis = 2, .batch_dims = 1});
  }

  Tensor unchanged(const Tensor& images) override { return resize(nn::middle_of_ratio(images, height_, width_), {height_, width_}); }

  // Neighbours along an axis, as many for each image, from an index of its own on: i64 [batch, count].
  Tensor chosen(const Tensor& images, int axis, int64_t count) const {
    const Tensor choices = size(images, axis) - count + 1;
    const Tensor drawn = reshape(draw(images, 0, 1), {images.shape()[0], 1});
    const Tensor first = minimum(cast(drawn * cast(choices, drawn.dtype()), Dtype::i64), choices - 1);  // a product may be rounded up
    return first + arange(count, {.dtype = Dtype::i64});
  }

  int64_t height_, width_;
};

}  // namespace

RandomFlip::RandomFlip(FlipMode mode, RandomOptions options)
    : AnyLayer(nn::make_layer<RandomFlipLayer>(nn::FlipFields{mode, options.seed, options.name, options.dtype})) {}
RandomCrop::RandomCrop(int64_t height, int64_t width, RandomOptions options)
    : AnyLayer(nn::make_layer<RandomCropLayer>(options, nn::ImageSizeArguments{height, width})) {}

}  // namespace anyshape
