// Samples of layers along spatial axes. Time is the height of images and the depth of volumes.
#include "nn/check_layer.h"

namespace anyshape::test {
namespace {

using Inputs = std::function<std::vector<Tensor>(int64_t, int64_t, int)>;

// [rows, time, ...], as many spatial axes in all.
Inputs inputs_of(int axes, int64_t channels) {
  return [=](int64_t rows, int64_t time, int seed) {
    std::vector<int64_t> shape = {rows, time};
    for (int axis = 1; axis < axes; ++axis) shape.push_back(axis == 1 ? 5 : 4);
    shape.push_back(channels);
    return std::vector{numbers(Shape(shape), seed)};
  };
}

LayerSample sample(const char* layer, int axes, std::function<AnyLayer()> make, int64_t least_time = 0, const char* label = "") {
  return {.layer = layer,
          .label = label,
          .make = std::move(make),
          .inputs = inputs_of(axes, 4),
          .mask = MaskFate::Drops,
          .least_time = least_time,
          .no_ragged = "neighbours in rows of unequal length have no common grid"};
}

const ConvolutionOptions same = {.padding = "same", .dtype = f64};

std::vector<LayerSample> convolutions() {
  return {
      sample("Conv1D", 1, [] { return Conv1D(3, 2, {.padding = "causal", .dilation_rate = 2, .activation = "tanh", .dtype = f64}); }),
      sample("Conv2D", 2, [] { return Conv2D(4, 3, {.strides = 2, .padding = "same", .groups = 2, .dtype = f64}); }),
      sample(
          "Conv2D", 2, [] { return Conv2D(3, {2, 3}, {.use_bias = false, .dtype = f64}); }, 2, "valid"),
      sample(
          "Conv2D", 2, [] { return Conv2D(2, 3, {.padding = {{1, 2}, {0, 1}}, .dtype = f64}); }, 0, "explicit"),
      sample("Conv3D", 3, [] { return Conv3D(2, {3, 2, 1}, same); }),
      sample("DepthwiseConv1D", 1, [] { return DepthwiseConv1D(3, {.padding = "same", .depth_multiplier = 2, .dtype = f64}); }),
      sample("DepthwiseConv2D", 2, [] { return DepthwiseConv2D(3, {.strides = 2, .padding = "same", .dtype = f64}); }),
      sample("SeparableConv1D", 1, [] { return SeparableConv1D(3, 2, {.padding = "same", .depth_multiplier = 2, .dtype = f64}); }),
      sample("SeparableConv2D", 2, [] { return SeparableConv2D(3, 3, {.padding = "same", .activation = "tanh", .dtype = f64}); }),
      sample("Conv1DTranspose", 1, [] { return Conv1DTranspose(3, 3, {.strides = 2, .padding = "same", .dtype = f64}); }),
      sample("Conv2DTranspose", 2, [] { return Conv2DTranspose(2, 3, {.strides = 2, .padding = "same", .dtype = f64}); }),
      sample("Conv3DTranspose", 3, [] { return Conv3DTranspose(2, 2, {.strides = 2, .padding = "same", .dtype = f64}); }),
  };
}

std::vector<LayerSample> poolings() {
  return {
      sample("MaxPooling1D", 1, [] { return MaxPooling1D(2, {.padding = "same", .dtype = f64}); }),
      sample(
          "MaxPooling2D", 2, [] { return MaxPooling2D(2, {.dtype = f64}); }, 2),
      sample(
          "MaxPooling2D", 2, [] { return MaxPooling2D({3, 2}, {.strides = 2, .padding = "same", .dtype = f64}); }, 0, "overlapping"),
      sample("MaxPooling3D", 3, [] { return MaxPooling3D(2, {.padding = "same", .dtype = f64}); }),
      sample("AveragePooling1D", 1, [] { return AveragePooling1D(3, {.strides = 2, .padding = "same", .dtype = f64}); }),
      sample(
          "AveragePooling2D", 2, [] { return AveragePooling2D(2, {.dtype = f64}); }, 2),
      sample("AveragePooling3D", 3, [] { return AveragePooling3D(2, {.padding = "same", .dtype = f64}); }),
      sample("GlobalAveragePooling2D", 2, [] { return GlobalAveragePooling2D({.dtype = f64}); }),
      sample("GlobalAveragePooling3D", 3, [] { return GlobalAveragePooling3D({.keepdims = true, .dtype = f64}); }),
      sample("GlobalMaxPooling2D", 2, [] { return GlobalMaxPooling2D({.keepdims = true, .dtype = f64}); }),
      sample("GlobalMaxPooling3D", 3, [] { return GlobalMaxPooling3D({.dtype = f64}); }),
      sample(
          "AdaptiveAveragePooling2D", 2, [] { return AdaptiveAveragePooling2D({2, 3}, {.dtype = f64}); }, 1),
      sample(
          "AdaptiveMaxPooling2D", 2, [] { return AdaptiveMaxPooling2D(2, {.dtype = f64}); }, 1),
  };
}

std::vector<LayerSample> sizes() {
  return {
      sample("UpSampling1D", 1, [] { return UpSampling1D(3, {.dtype = f64}); }),
      sample("UpSampling2D", 2, [] { return UpSampling2D({2, 3}, {.dtype = f64}); }),
      sample(
          "UpSampling2D", 2, [] { return UpSampling2D(2, {.interpolation = Interpolation::Bilinear, .dtype = f64}); }, 1, "bilinear"),
      sample("UpSampling3D", 3, [] { return UpSampling3D(2, {.dtype = f64}); }),
      sample("ZeroPadding1D", 1, [] { return ZeroPadding1D({{1, 2}}, {.dtype = f64}); }),
      sample("ZeroPadding2D", 2, [] { return ZeroPadding2D({{1, 2}, {0, 1}}, {.dtype = f64}); }),
      sample("ZeroPadding3D", 3, [] { return ZeroPadding3D({1, 0, 2}, {.dtype = f64}); }),
      sample(
          "Cropping1D", 1, [] { return Cropping1D({{1, 0}}, {.dtype = f64}); }, 2),
      sample(
          "Cropping2D", 2, [] { return Cropping2D({{0, 1}, {1, 1}}, {.dtype = f64}); }, 2),
      sample(
          "Cropping3D", 3, [] { return Cropping3D({{1, 0}, {1, 1}, {0, 1}}, {.dtype = f64}); }, 2),
      sample(
          "Resizing", 2, [] { return Resizing(3, 4, {.dtype = f64}); }, 1),
      sample(
          "Resizing", 2, [] { return Resizing(2, 2, {.crop_to_aspect_ratio = true, .dtype = f64}); }, 1, "of_one_shape"),
      sample(
          "CenterCrop", 2, [] { return CenterCrop(2, 3, {.dtype = f64}); }, 2),
  };
}

std::vector<LayerSample> random_changes() {
  return {
      sample("RandomFlip", 2, [] { return RandomFlip(FlipMode::Horizontal, {.dtype = f64}); }),
      sample(
          "RandomCrop", 2, [] { return RandomCrop(2, 3, {.dtype = f64}); }, 1),
      sample("RandomRotation", 2, [] { return RandomRotation(0.1, {.dtype = f64}); }),
      sample("RandomTranslation", 2, [] { return RandomTranslation(0.2, {-0.1, 0.3}, {.dtype = f64}); }),
      sample("RandomZoom", 2, [] { return RandomZoom(0.2, {.dtype = f64}); }),
      sample("RandomContrast", 2, [] { return RandomContrast(0.2, {.value_range = {-2, 2}, .dtype = f64}); }),
      sample("RandomBrightness", 2, [] { return RandomBrightness(0.2, {.value_range = {-2, 2}, .dtype = f64}); }),
  };
}

[[maybe_unused]] const bool registered = register_layer_samples(convolutions()) && register_layer_samples(poolings()) &&
                                         register_layer_samples(sizes()) && register_layer_samples(random_changes());

}  // namespace
}  // namespace anyshape::test
