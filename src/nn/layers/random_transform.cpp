// RandomRotation, RandomTranslation and RandomZoom: images read at coordinates that a random transform gives.
#include "nn/layers/random_layer.h"
#include "nn/layers/sample_images.h"
#include "nn/make_layer.h"

#include <anyshape/layers/augmentation.h>

#include <numbers>

namespace anyshape {
namespace {

// The axes of a batch of images, in pixels from their middle.
struct Grid {
  explicit Grid(const Tensor& images, Dtype dtype)
      : middle_row(cast(size(images, 1) - 1, dtype) * 0.5),
        middle_column(cast(size(images, 2) - 1, dtype) * 0.5),
        rows(reshape(arange(images.shape()[1], {.dtype = dtype}) - middle_row, {1, images.shape()[1], 1})),
        columns(reshape(arange(images.shape()[2], {.dtype = dtype}) - middle_column, {1, 1, images.shape()[2]})) {}

  Tensor middle_row, middle_column;
  Tensor rows, columns;
};

class RandomTransformLayer : public nn::RandomLayer {
 public:
  template <class Options>
  RandomTransformLayer(const char* type, const Options& options)
      : RandomLayer(type, options.seed), sampling_{options.fill_mode, options.interpolation, options.fill_value} {}

 protected:
  // Where the pixels of the results come from, from the middle of the images.
  virtual nn::Coordinates origins(const Tensor& images, const Grid& grid) = 0;

  // [batch, 1, 1], between these.
  Tensor factor(const Tensor& images, const FactorRange& range) const { return squeeze(draw(images, range.lower(), range.upper()), -1); }

 private:
  Tensor changed(const Tensor& images) override {
    const Grid grid(images, images.dtype() == Dtype::f64 ? Dtype::f64 : Dtype::f32);
    const nn::Coordinates from_middle = origins(images, grid);
    return nn::sample_images(images, {from_middle.rows + grid.middle_row, from_middle.columns + grid.middle_column}, sampling_);
  }

  nn::Sampling sampling_;
};

class RandomRotationLayer final : public RandomTransformLayer {
 public:
  RandomRotationLayer(const FactorRange& range, const RandomTransformOptions& options)
      : RandomTransformLayer("RandomRotation", options), range_(range) {}

 private:
  nn::Coordinates origins(const Tensor& images, const Grid& grid) override {
    const Tensor angle = factor(images, range_) * (2 * std::numbers::pi), sine = sin(angle), cosine = cos(angle);
    return {.rows = sine * grid.columns + cosine * grid.rows, .columns = cosine * grid.columns - sine * grid.rows};
  }

  FactorRange range_;
};

class RandomTranslationLayer final : public RandomTransformLayer {
 public:
  RandomTranslationLayer(const FactorRange& height, const FactorRange& width, const RandomTransformOptions& options)
      : RandomTransformLayer("RandomTranslation", options), height_(height), width_(width) {}

 private:
  nn::Coordinates origins(const Tensor& images, const Grid& grid) override {
    const Tensor down = factor(images, height_) * (grid.middle_row * 2 + 1), right = factor(images, width_) * (grid.middle_column * 2 + 1);
    return {.rows = grid.rows - down, .columns = grid.columns - right};
  }

  FactorRange height_, width_;
};

class RandomZoomLayer final : public RandomTransformLayer {
 public:
  RandomZoomLayer(const FactorRange& height, const RandomZoomOptions& options)
      : RandomTransformLayer("RandomZoom", options), height_(height), width_(options.width_factor) {}

 private:
  nn::Coordinates origins(const Tensor& images, const Grid& grid) override {
    const Tensor along_rows = factor(images, height_) + 1;
    const Tensor along_columns = width_ ? factor(images, *width_) + 1 : along_rows;
    return {.rows = grid.rows * along_rows, .columns = grid.columns * along_columns};
  }

  FactorRange height_;
  std::optional<FactorRange> width_;
};

}  // namespace

RandomRotation::RandomRotation(FactorRange factor, RandomTransformOptions options)
    : AnyLayer(nn::make_layer<RandomRotationLayer>(options, nn::FactorArguments{factor})) {}
RandomTranslation::RandomTranslation(FactorRange height_factor, FactorRange width_factor, RandomTransformOptions options)
    : AnyLayer(nn::make_layer<RandomTranslationLayer>(options, nn::FactorsArguments{height_factor, width_factor})) {}
RandomZoom::RandomZoom(FactorRange height_factor, RandomZoomOptions options)
    : AnyLayer(nn::make_layer<RandomZoomLayer>(options, nn::HeightFactorArguments{height_factor})) {}

}  // namespace anyshape
