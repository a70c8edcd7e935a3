// RandomContrast and RandomBrightness: other values of the same pixels.
#include "nn/layers/random_layer.h"
#include "nn/make_layer.h"

#include <anyshape/error.h>
#include <anyshape/layers/augmentation.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace anyshape {
namespace {

class RandomValueLayer : public nn::RandomLayer {
 public:
  RandomValueLayer(const char* type, const FactorRange& factor, const RandomValueOptions& options)
      : RandomLayer(type, options.seed), factor_(factor), range_(options.value_range) {
    if (range_.size() == 2 && range_[0] < range_[1]) return;
    throw ArgumentError(
        fmt::format("{}: value_range is [{}]; expected the least and the greatest value of a pixel.", type, fmt::join(range_, ", ")));
  }

 protected:
  Tensor drawn(const Tensor& images) const { return cast(draw(images, factor_.lower(), factor_.upper()), images.dtype()); }
  Tensor in_range(const Tensor& images) const { return minimum(maximum(images, range_[0]), range_[1]); }
  double extent() const { return range_[1] - range_[0]; }

 private:
  FactorRange factor_;
  std::vector<double> range_;
};

class RandomContrastLayer final : public RandomValueLayer {
 public:
  RandomContrastLayer(const FactorRange& factor, const RandomValueOptions& options) : RandomValueLayer("RandomContrast", factor, options) {}

 private:
  Tensor changed(const Tensor& images) override {
    const Tensor middle = mean(images, {.axes = {1, 2}, .keep_dims = true});
    return in_range((images - middle) * (drawn(images) + 1) + middle);
  }
};

class RandomBrightnessLayer final : public RandomValueLayer {
 public:
  RandomBrightnessLayer(const FactorRange& factor, const RandomValueOptions& options)
      : RandomValueLayer("RandomBrightness", factor, options) {}

 private:
  Tensor changed(const Tensor& images) override { return in_range(images + drawn(images) * extent()); }
};

}  // namespace

RandomContrast::RandomContrast(FactorRange factor, RandomValueOptions options)
    : AnyLayer(nn::make_layer<RandomContrastLayer>(options, nn::FactorArguments{factor})) {}
RandomBrightness::RandomBrightness(FactorRange factor, RandomValueOptions options)
    : AnyLayer(nn::make_layer<RandomBrightnessLayer>(options, nn::FactorArguments{factor})) {}

}  // namespace anyshape
