// DepthwiseConv1D and 2D: every channel by itself. SeparableConv1D and 2D: the same, then a convolution that looks at one place only.
#include "nn/layers/spatial.h"
#include "nn/make_layer.h"
#include "nn/named_activation.h"

#include <anyshape/layers/image.h>
#include <anyshape/ops.h>

namespace anyshape {
namespace {

template <int axes>
class DepthwiseLayer final : public Layer {
 public:
  DepthwiseLayer(const PerAxis& kernel_size, DepthwiseConvolutionOptions options)
      : Layer(nn::spatial_type("DepthwiseConv", axes)), options_(std::move(options)) {
    const std::string type = nn::spatial_type("DepthwiseConv", axes);
    nn::require_positive(type.c_str(), "depth_multiplier", options_.depth_multiplier);
    kernel_size_ = kernel_size.along(axes, type, "kernel_size");
    nn::require_one_of(type, options_.strides.along(axes, type, "strides"), options_.dilation_rate.along(axes, type, "dilation_rate"));
    nn::require_padding(type, options_.padding, axes);
  }

  void build(const Shape& input) override {
    kernel_ = weight("kernel", nn::kernel_shape(kernel_size_, input[-1], options_.depth_multiplier),
                     {.initializer = options_.depthwise_initializer, .regularizer = options_.depthwise_regularizer});
    if (!options_.use_bias) return;
    bias_ = weight("bias", {input[-1] * options_.depth_multiplier},
                   {.initializer = options_.bias_initializer, .regularizer = options_.bias_regularizer});
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    nn::require_spatial(*this, x, axes);
    Tensor result =
        depthwise_conv(x, kernel_, {.strides = options_.strides, .padding = options_.padding, .dilation = options_.dilation_rate});
    if (options_.use_bias) result = result + bias_;
    return nn::activate(options_.activation, result);
  }

 private:
  std::vector<int64_t> kernel_size_;
  DepthwiseConvolutionOptions options_;
  Variable kernel_, bias_;
};

template <int axes>
class SeparableLayer final : public Layer {
 public:
  SeparableLayer(int64_t filters, const PerAxis& kernel_size, SeparableConvolutionOptions options)
      : Layer(nn::spatial_type("SeparableConv", axes)), filters_(filters), options_(std::move(options)) {
    const std::string type = nn::spatial_type("SeparableConv", axes);
    nn::require_positive(type.c_str(), "filters", filters);
    nn::require_positive(type.c_str(), "depth_multiplier", options_.depth_multiplier);
    kernel_size_ = kernel_size.along(axes, type, "kernel_size");
    nn::require_one_of(type, options_.strides.along(axes, type, "strides"), options_.dilation_rate.along(axes, type, "dilation_rate"));
    nn::require_padding(type, options_.padding, axes);
  }

  void build(const Shape& input) override {
    depthwise_ = weight("depthwise_kernel", nn::kernel_shape(kernel_size_, input[-1], options_.depth_multiplier),
                        {.initializer = options_.depthwise_initializer, .regularizer = options_.depthwise_regularizer});
    const std::vector<int64_t> point(static_cast<size_t>(axes), 1);
    pointwise_ = weight("pointwise_kernel", nn::kernel_shape(point, input[-1] * options_.depth_multiplier, filters_),
                        {.initializer = options_.pointwise_initializer, .regularizer = options_.pointwise_regularizer});
    if (options_.use_bias)
      bias_ = weight("bias", {filters_}, {.initializer = options_.bias_initializer, .regularizer = options_.bias_regularizer});
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    nn::require_spatial(*this, x, axes);
    const Tensor channels =
        depthwise_conv(x, depthwise_, {.strides = options_.strides, .padding = options_.padding, .dilation = options_.dilation_rate});
    Tensor result = conv(channels, pointwise_, {.padding = "same"});
    if (options_.use_bias) result = result + bias_;
    return nn::activate(options_.activation, result);
  }

 private:
  int64_t filters_;
  std::vector<int64_t> kernel_size_;
  SeparableConvolutionOptions options_;
  Variable depthwise_, pointwise_, bias_;
};

template <int axes>
AnyLayer made(const PerAxis& kernel_size, const DepthwiseConvolutionOptions& options) {
  return nn::make_layer<DepthwiseLayer<axes>>(options, nn::KernelArguments{kernel_size});
}
template <int axes>
AnyLayer made(int64_t filters, const PerAxis& kernel_size, const SeparableConvolutionOptions& options) {
  return nn::make_layer<SeparableLayer<axes>>(options, nn::ConvolutionArguments{filters, kernel_size});
}

}  // namespace

DepthwiseConv1D::DepthwiseConv1D(PerAxis kernel_size, DepthwiseConvolutionOptions options) : AnyLayer(made<1>(kernel_size, options)) {}
DepthwiseConv2D::DepthwiseConv2D(PerAxis kernel_size, DepthwiseConvolutionOptions options) : AnyLayer(made<2>(kernel_size, options)) {}

SeparableConv1D::SeparableConv1D(int64_t filters, PerAxis kernel_size, SeparableConvolutionOptions options)
    : AnyLayer(made<1>(filters, kernel_size, options)) {}
SeparableConv2D::SeparableConv2D(int64_t filters, PerAxis kernel_size, SeparableConvolutionOptions options)
    : AnyLayer(made<2>(filters, kernel_size, options)) {}

}  // namespace anyshape
