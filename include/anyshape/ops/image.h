// Convolutions, pooling and resizing of sequences, images and volumes: [batch, spatial axes..., channels], with one to three spatial axes of any size.
// The same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/spatial.h>
#include <anyshape/tensor.h>

#include <optional>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// With several groups, each part of the channels makes its part of the result.
struct ConvOptions {
  PerAxis strides = 1;
  Padding padding = "valid";
  PerAxis dilation = 1;
  int64_t groups = 1;
};
/// Convolution: x [batch, n..., channels] with kernel [k..., channels / groups, filters] gives [batch, m..., filters].
Tensor conv(const Tensor& x, const Tensor& kernel, ConvOptions options = {});

/// Convolution of every channel by itself.
struct DepthwiseConvOptions {
  PerAxis strides = 1;
  Padding padding = "valid";
  PerAxis dilation = 1;
};
/// x [batch, n..., channels] with kernel [k..., channels, multiplier] gives [batch, m..., channels * multiplier]: channel c makes the results from
/// c * multiplier on.
Tensor depthwise_conv(const Tensor& x, const Tensor& kernel, DepthwiseConvOptions options = {});

/// How many elements there are along an axis, for m of x and a kernel that spans k. Padding is "valid" or "same".
struct ConvTransposeOptions {
  PerAxis strides = 1;
  Padding padding = "valid";
  PerAxis dilation = 1;
  /// None: m * stride + max(k - stride, 0) where "valid", m * stride where "same". A number below the stride: that many behind (m - 1) * stride + k
  /// where "valid", behind (m - 1) * stride + k % 2 where "same".
  std::optional<PerAxis> output_padding = {};
};
/// The gradient of a convolution with respect to its input, as an op: x [batch, m..., filters] with kernel [k..., channels, filters] gives
/// [batch, n..., channels].
Tensor conv_transpose(const Tensor& x, const Tensor& kernel, ConvTransposeOptions options = {});

/// Without strides windows lie side by side. "same" takes the real elements of a window only.
struct PoolOptions {
  std::optional<PerAxis> strides = {};  ///< none: the size of the window
  Padding padding = "valid";
};
Tensor max_pool(const Tensor& x, const PerAxis& window,
                PoolOptions options = {});  ///< the greatest of each window; of equal ones the first has the gradient
Tensor average_pool(const Tensor& x, const PerAxis& window, PoolOptions options = {});  ///< the mean of the real elements of each window

/// The size of the result whatever that of x: along an axis of n elements result i takes those from floor(i n / m) to ceil((i + 1) n / m).
///@{
Tensor adaptive_average_pool(const Tensor& x, const PerAxis& sizes);
Tensor adaptive_max_pool(const Tensor& x, const PerAxis& sizes);
///@}

/// How values between pixels are found. Bilinear takes pixel centres, (i + 1/2) n / m - 1/2, as Keras does.
enum class Interpolation { Nearest, Bilinear };
/// How resize and upsample find values.
struct ResizeOptions {
  Interpolation interpolation = Interpolation::Bilinear;
  bool antialias = false;  ///< where the image shrinks every pixel counts
};
Tensor resize(const Tensor& images, const Shape& sizes,
              ResizeOptions options = {});  ///< [batch, height, width, channels] to these sizes, which may be symbols
/// Every pixel becomes so many, by default equal ones.
Tensor upsample(const Tensor& x, const PerAxis& factors, Interpolation interpolation = Interpolation::Nearest);

/// So many zeros around the spatial axes.
Tensor zero_pad(const Tensor& x, const Padding& padding);
/// So many elements less at the ends of the spatial axes; ShapeError where nothing is left to cut.
Tensor crop(const Tensor& x, const Padding& cropping);

}  // namespace anyshape
#pragma GCC visibility pop
