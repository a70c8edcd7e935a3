// Layers for sequences, images and volumes: [batch, spatial axes..., channels] with spatial axes of any size, and layers that change images at random
// while training. A mask ends at convolutions and poolings; rows of unequal length are refused.
#pragma once
#include <anyshape/layers/core.h>
#include <anyshape/ops/image.h>
#include <anyshape/spatial.h>

#pragma GCC visibility push(default)
namespace anyshape {

/// The activation is linear by default. Strides and dilation exclude each other.
struct ConvolutionOptions {
  PerAxis strides = 1;
  Padding padding = "valid";
  PerAxis dilation_rate = 1;
  int64_t groups = 1;  ///< parts of the channels, each of which makes its part of the filters
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// activation(convolution of x with the kernel [k..., channels / groups, filters] + bias), of sequences; padding "causal" looks at earlier steps only.
class Conv1D : public AnyLayer {
 public:
  Conv1D(int64_t filters, PerAxis kernel_size, ConvolutionOptions options = {});
};
/// activation(convolution of x with the kernel [k..., channels / groups, filters] + bias), of images.
class Conv2D : public AnyLayer {
 public:
  Conv2D(int64_t filters, PerAxis kernel_size, ConvolutionOptions options = {});
};
/// activation(convolution of x with the kernel [k..., channels / groups, filters] + bias), of volumes.
class Conv3D : public AnyLayer {
 public:
  Conv3D(int64_t filters, PerAxis kernel_size, ConvolutionOptions options = {});
};

/// Every channel makes depth_multiplier results.
struct DepthwiseConvolutionOptions {
  PerAxis strides = 1;
  Padding padding = "valid";
  int64_t depth_multiplier = 1;
  PerAxis dilation_rate = 1;
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {};
  Regularizer bias_regularizer = {};
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// Every channel of sequences by itself, with its part of the kernel [k..., channels, depth_multiplier].
class DepthwiseConv1D : public AnyLayer {
 public:
  explicit DepthwiseConv1D(PerAxis kernel_size, DepthwiseConvolutionOptions options = {});
};
/// Every channel of images by itself, with its part of the kernel [k..., channels, depth_multiplier].
class DepthwiseConv2D : public AnyLayer {
 public:
  explicit DepthwiseConv2D(PerAxis kernel_size, DepthwiseConvolutionOptions options = {});
};

/// Options of the convolution of every channel, and of the one that puts the channels together.
struct SeparableConvolutionOptions {
  PerAxis strides = 1;
  Padding padding = "valid";
  PerAxis dilation_rate = 1;
  int64_t depth_multiplier = 1;
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer pointwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {};
  Regularizer pointwise_regularizer = {};
  Regularizer bias_regularizer = {};
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// Every channel of sequences by itself, then a weighted sum of the channels for each filter.
class SeparableConv1D : public AnyLayer {
 public:
  SeparableConv1D(int64_t filters, PerAxis kernel_size, SeparableConvolutionOptions options = {});
};
/// Every channel of images by itself, then a weighted sum of the channels for each filter.
class SeparableConv2D : public AnyLayer {
 public:
  SeparableConv2D(int64_t filters, PerAxis kernel_size, SeparableConvolutionOptions options = {});
};

/// Strides make the result larger.
struct TransposedConvolutionOptions {
  PerAxis strides = 1;
  Padding padding = "valid";
  std::optional<PerAxis> output_padding = {};  ///< none: as many as fit the strides; else so many behind the least size
  PerAxis dilation_rate = 1;
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// A convolution of sequences the other way round: "same" gives n * stride. The kernel is [k..., filters, channels].
class Conv1DTranspose : public AnyLayer {
 public:
  Conv1DTranspose(int64_t filters, PerAxis kernel_size, TransposedConvolutionOptions options = {});
};
/// A convolution of images the other way round: "same" gives n * stride. The kernel is [k..., filters, channels].
class Conv2DTranspose : public AnyLayer {
 public:
  Conv2DTranspose(int64_t filters, PerAxis kernel_size, TransposedConvolutionOptions options = {});
};
/// A convolution of volumes the other way round: "same" gives n * stride. The kernel is [k..., filters, channels].
class Conv3DTranspose : public AnyLayer {
 public:
  Conv3DTranspose(int64_t filters, PerAxis kernel_size, TransposedConvolutionOptions options = {});
};

/// Without strides windows lie side by side. "same" takes the real elements of a window only.
struct PoolingOptions {
  std::optional<PerAxis> strides = {};
  Padding padding = "valid";
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// The greatest of each window of sequences.
class MaxPooling1D : public AnyLayer {
 public:
  explicit MaxPooling1D(PerAxis pool_size = 2, PoolingOptions options = {});
};
/// The greatest of each window of images.
class MaxPooling2D : public AnyLayer {
 public:
  explicit MaxPooling2D(PerAxis pool_size = 2, PoolingOptions options = {});
};
/// The greatest of each window of volumes.
class MaxPooling3D : public AnyLayer {
 public:
  explicit MaxPooling3D(PerAxis pool_size = 2, PoolingOptions options = {});
};
/// The mean of each window of sequences.
class AveragePooling1D : public AnyLayer {
 public:
  explicit AveragePooling1D(PerAxis pool_size = 2, PoolingOptions options = {});
};
/// The mean of each window of images.
class AveragePooling2D : public AnyLayer {
 public:
  explicit AveragePooling2D(PerAxis pool_size = 2, PoolingOptions options = {});
};
/// The mean of each window of volumes.
class AveragePooling3D : public AnyLayer {
 public:
  explicit AveragePooling3D(PerAxis pool_size = 2, PoolingOptions options = {});
};

/// keepdims keeps the spatial axes with size 1.
struct GlobalPoolingOptions {
  bool keepdims = false;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// The mean of each channel over all of the image: [batch, channels].
class GlobalAveragePooling2D : public AnyLayer {
 public:
  explicit GlobalAveragePooling2D(GlobalPoolingOptions options = {});
};
/// The mean of each channel over all of the volume: [batch, channels].
class GlobalAveragePooling3D : public AnyLayer {
 public:
  explicit GlobalAveragePooling3D(GlobalPoolingOptions options = {});
};
/// The greatest of each channel over all of the image: [batch, channels].
class GlobalMaxPooling2D : public AnyLayer {
 public:
  explicit GlobalMaxPooling2D(GlobalPoolingOptions options = {});
};
/// The greatest of each channel over all of the volume: [batch, channels].
class GlobalMaxPooling3D : public AnyLayer {
 public:
  explicit GlobalMaxPooling3D(GlobalPoolingOptions options = {});
};

/// The mean of each part of the image: results of this size, whatever the size of the image.
class AdaptiveAveragePooling2D : public AnyLayer {
 public:
  explicit AdaptiveAveragePooling2D(PerAxis output_size, LayerOptions options = {});
};
/// The greatest of each part of the image: results of this size, whatever the size of the image.
class AdaptiveMaxPooling2D : public AnyLayer {
 public:
  explicit AdaptiveMaxPooling2D(PerAxis output_size, LayerOptions options = {});
};

/// How values between pixels are found.
struct UpSamplingOptions {
  Interpolation interpolation = Interpolation::Nearest;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// Every step becomes so many equal ones.
class UpSampling1D : public AnyLayer {
 public:
  explicit UpSampling1D(PerAxis size = 2, LayerOptions options = {});
};
/// Every pixel becomes so many.
class UpSampling2D : public AnyLayer {
 public:
  explicit UpSampling2D(PerAxis size = 2, UpSamplingOptions options = {});
};
/// Every element of a volume becomes so many equal ones.
class UpSampling3D : public AnyLayer {
 public:
  explicit UpSampling3D(PerAxis size = 2, LayerOptions options = {});
};

/// So many zeros around sequences: 1, {1, 2} for each axis, {{1, 2}, {0, 1}} for both of its ends.
class ZeroPadding1D : public AnyLayer {
 public:
  explicit ZeroPadding1D(Padding padding = 1, LayerOptions options = {});
};
/// So many zeros around images: 1, {1, 2} for each axis, {{1, 2}, {0, 1}} for both of its ends.
class ZeroPadding2D : public AnyLayer {
 public:
  explicit ZeroPadding2D(Padding padding = 1, LayerOptions options = {});
};
/// So many zeros around volumes: 1, {1, 2} for each axis, {{1, 2}, {0, 1}} for both of its ends.
class ZeroPadding3D : public AnyLayer {
 public:
  explicit ZeroPadding3D(Padding padding = 1, LayerOptions options = {});
};
/// So many elements less at the ends of sequences.
class Cropping1D : public AnyLayer {
 public:
  explicit Cropping1D(Padding cropping = 1, LayerOptions options = {});
};
/// So many elements less at the ends of images.
class Cropping2D : public AnyLayer {
 public:
  explicit Cropping2D(Padding cropping = 0, LayerOptions options = {});
};
/// So many elements less at the ends of volumes.
class Cropping3D : public AnyLayer {
 public:
  explicit Cropping3D(Padding cropping = 1, LayerOptions options = {});
};

/// crop_to_aspect_ratio takes the largest middle part of the wanted shape first, so that nothing is distorted.
struct ResizingOptions {
  Interpolation interpolation = Interpolation::Bilinear;
  bool crop_to_aspect_ratio = false;
  bool antialias = false;  ///< where the image shrinks every pixel counts
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// Images of one size.
class Resizing : public AnyLayer {
 public:
  Resizing(int64_t height, int64_t width, ResizingOptions options = {});
};
/// The middle of each image; ShapeError for one that is smaller.
class CenterCrop : public AnyLayer {
 public:
  CenterCrop(int64_t height, int64_t width, LayerOptions options = {});
};

}  // namespace anyshape
#pragma GCC visibility pop
