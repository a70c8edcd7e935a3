// Layers along spatial axes, and those that change images at random, by name.
#include "nn/image_registry.h"

#include "nn/layer_arguments.h"

#include <anyshape/layers/augmentation.h>
#include <anyshape/layers/image.h>

namespace anyshape::nn {
namespace {

template <class Handle, class Options>
void add_convolution(Registry& registry, const char* name) {
  registry.table().add(detail::registered(
      name, +[](ConvolutionArguments a, Options o) -> AnyLayer { return Handle(a.filters, std::move(a.kernel_size), std::move(o)); }));
}
template <class Handle>
void add_depthwise(Registry& registry, const char* name) {
  registry.table().add(detail::registered(
      name, +[](KernelArguments a, DepthwiseConvolutionOptions o) -> AnyLayer { return Handle(std::move(a.kernel_size), std::move(o)); }));
}
template <class Handle>
void add_pooling(Registry& registry, const char* name) {
  registry.table().add(detail::registered(
      name, +[](PoolingFields f) -> AnyLayer {
        return Handle(std::move(f.pool_size), {.strides = f.strides, .padding = f.padding, .name = f.name, .dtype = f.dtype});
      }));
}
template <class Handle>
void add_global_pooling(Registry& registry, const char* name) {
  registry.table().add(detail::registered(name, +[](GlobalPoolingOptions o) -> AnyLayer { return Handle(std::move(o)); }));
}
template <class Handle>
void add_adaptive_pooling(Registry& registry, const char* name) {
  registry.table().add(detail::registered(
      name, +[](OutputSizeArguments a, LayerOptions o) -> AnyLayer { return Handle(std::move(a.output_size), std::move(o)); }));
}
template <class Handle>
void add_upsampling(Registry& registry, const char* name) {
  registry.table().add(
      detail::registered(name, +[](SizeFields f) -> AnyLayer { return Handle(std::move(f.size), {.name = f.name, .dtype = f.dtype}); }));
}
template <class Handle, int axes>
void add_padding(Registry& registry, const char* name) {
  registry.table().add(detail::registered(
      name, +[](PaddingFields<axes> f) -> AnyLayer { return Handle(std::move(f.padding), {.name = f.name, .dtype = f.dtype}); }));
}
template <class Handle, int axes>
void add_cropping(Registry& registry, const char* name) {
  registry.table().add(detail::registered(
      name, +[](CroppingFields<axes> f) -> AnyLayer { return Handle(std::move(f.cropping), {.name = f.name, .dtype = f.dtype}); }));
}
template <class Handle, class Options>
void add_of_size(Registry& registry, const char* name) {
  registry.table().add(
      detail::registered(name, +[](ImageSizeArguments a, Options o) -> AnyLayer { return Handle(a.height, a.width, std::move(o)); }));
}
template <class Handle, class Options>
void add_of_factor(Registry& registry, const char* name) {
  registry.table().add(detail::registered(name, +[](FactorArguments a, Options o) -> AnyLayer { return Handle(a.factor, std::move(o)); }));
}

}  // namespace

void add_image_layers(Registry& registry) {
  add_convolution<Conv1D, ConvolutionOptions>(registry, "Conv1D");
  add_convolution<Conv2D, ConvolutionOptions>(registry, "Conv2D");
  add_convolution<Conv3D, ConvolutionOptions>(registry, "Conv3D");
  add_convolution<Conv1DTranspose, TransposedConvolutionOptions>(registry, "Conv1DTranspose");
  add_convolution<Conv2DTranspose, TransposedConvolutionOptions>(registry, "Conv2DTranspose");
  add_convolution<Conv3DTranspose, TransposedConvolutionOptions>(registry, "Conv3DTranspose");
  add_convolution<SeparableConv1D, SeparableConvolutionOptions>(registry, "SeparableConv1D");
  add_convolution<SeparableConv2D, SeparableConvolutionOptions>(registry, "SeparableConv2D");
  add_depthwise<DepthwiseConv1D>(registry, "DepthwiseConv1D");
  add_depthwise<DepthwiseConv2D>(registry, "DepthwiseConv2D");
  add_pooling<MaxPooling1D>(registry, "MaxPooling1D");
  add_pooling<MaxPooling2D>(registry, "MaxPooling2D");
  add_pooling<MaxPooling3D>(registry, "MaxPooling3D");
  add_pooling<AveragePooling1D>(registry, "AveragePooling1D");
  add_pooling<AveragePooling2D>(registry, "AveragePooling2D");
  add_pooling<AveragePooling3D>(registry, "AveragePooling3D");
  add_global_pooling<GlobalAveragePooling2D>(registry, "GlobalAveragePooling2D");
  add_global_pooling<GlobalAveragePooling3D>(registry, "GlobalAveragePooling3D");
  add_global_pooling<GlobalMaxPooling2D>(registry, "GlobalMaxPooling2D");
  add_global_pooling<GlobalMaxPooling3D>(registry, "GlobalMaxPooling3D");
  add_adaptive_pooling<AdaptiveAveragePooling2D>(registry, "AdaptiveAveragePooling2D");
  add_adaptive_pooling<AdaptiveMaxPooling2D>(registry, "AdaptiveMaxPooling2D");
  add_upsampling<UpSampling1D>(registry, "UpSampling1D");
  registry.table().add(detail::registered(
      "UpSampling2D", +[](UpSamplingFields f) -> AnyLayer {
        return UpSampling2D(std::move(f.size), {.interpolation = f.interpolation, .name = f.name, .dtype = f.dtype});
      }));
  add_upsampling<UpSampling3D>(registry, "UpSampling3D");
  add_padding<ZeroPadding1D, 1>(registry, "ZeroPadding1D");
  add_padding<ZeroPadding2D, 2>(registry, "ZeroPadding2D");
  add_padding<ZeroPadding3D, 3>(registry, "ZeroPadding3D");
  add_cropping<Cropping1D, 1>(registry, "Cropping1D");
  add_cropping<Cropping2D, 2>(registry, "Cropping2D");
  add_cropping<Cropping3D, 3>(registry, "Cropping3D");
  add_of_size<Resizing, ResizingOptions>(registry, "Resizing");
  add_of_size<CenterCrop, LayerOptions>(registry, "CenterCrop");
}

void add_random_layers(Registry& registry) {
  registry.table().add(detail::registered(
      "RandomFlip", +[](FlipFields f) -> AnyLayer { return RandomFlip(f.mode, {.seed = f.seed, .name = f.name, .dtype = f.dtype}); }));
  add_of_size<RandomCrop, RandomOptions>(registry, "RandomCrop");
  add_of_factor<RandomRotation, RandomTransformOptions>(registry, "RandomRotation");
  registry.table().add(detail::registered(
      "RandomTranslation", +[](FactorsArguments a, RandomTransformOptions o) -> AnyLayer {
        return RandomTranslation(a.height_factor, a.width_factor, std::move(o));
      }));
  registry.table().add(detail::registered(
      "RandomZoom", +[](HeightFactorArguments a, RandomZoomOptions o) -> AnyLayer { return RandomZoom(a.height_factor, std::move(o)); }));
  add_of_factor<RandomContrast, RandomValueOptions>(registry, "RandomContrast");
  add_of_factor<RandomBrightness, RandomValueOptions>(registry, "RandomBrightness");
}

}  // namespace anyshape::nn
