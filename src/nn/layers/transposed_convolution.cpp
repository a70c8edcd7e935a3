// Conv1DTranspose, Conv2DTranspose and Conv3DTranspose: one class, by the number of spatial axes.
#include "nn/layers/spatial.h"
#include "nn/make_layer.h"
#include "nn/named_activation.h"

#include <anyshape/layers/image.h>
#include <anyshape/ops.h>

namespace anyshape {
namespace {

template <int axes>
class TransposedConvolutionLayer final : public Layer {
 public:
  TransposedConvolutionLayer(int64_t filters, const PerAxis& kernel_size, TransposedConvolutionOptions options)
      : Layer(nn::spatial_type("Conv", axes, "Transpose")), filters_(filters), options_(std::move(options)) {
    const std::string type = nn::spatial_type("Conv", axes, "Transpose");
    nn::require_positive(type.c_str(), "filters", filters);
    kernel_size_ = kernel_size.along(axes, type, "kernel_size");
    nn::require_one_of(type, options_.strides.along(axes, type, "strides"), options_.dilation_rate.along(axes, type, "dilation_rate"));
    if (options_.output_padding) static_cast<void>(options_.output_padding->along(axes, type, "output_padding", 0));
    nn::require_padding(type, options_.padding, axes);
  }

  void build(const Shape& input) override {
    kernel_ = weight("kernel", nn::kernel_shape(kernel_size_, filters_, input[-1]),
                     {.initializer = options_.kernel_initializer, .regularizer = options_.kernel_regularizer});
    if (options_.use_bias)
      bias_ = weight("bias", {filters_}, {.initializer = options_.bias_initializer, .regularizer = options_.bias_regularizer});
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    nn::require_spatial(*this, x, axes);
    Tensor result = conv_transpose(x, kernel_,
                                   {.strides = options_.strides,
                                    .padding = options_.padding,
                                    .dilation = options_.dilation_rate,
                                    .output_padding = options_.output_padding});
    if (options_.use_bias) result = result + bias_;
    return nn::activate(options_.activation, result);
  }

 private:
  int64_t filters_;
  std::vector<int64_t> kernel_size_;
  TransposedConvolutionOptions options_;
  Variable kernel_, bias_;
};

template <int axes>
AnyLayer made(int64_t filters, const PerAxis& kernel_size, const TransposedConvolutionOptions& options) {
  return nn::make_layer<TransposedConvolutionLayer<axes>>(options, nn::ConvolutionArguments{filters, kernel_size});
}

}  // namespace

Conv1DTranspose::Conv1DTranspose(int64_t filters, PerAxis kernel_size, TransposedConvolutionOptions options)
    : AnyLayer(made<1>(filters, kernel_size, options)) {}
Conv2DTranspose::Conv2DTranspose(int64_t filters, PerAxis kernel_size, TransposedConvolutionOptions options)
    : AnyLayer(made<2>(filters, kernel_size, options)) {}
Conv3DTranspose::Conv3DTranspose(int64_t filters, PerAxis kernel_size, TransposedConvolutionOptions options)
    : AnyLayer(made<3>(filters, kernel_size, options)) {}

}  // namespace anyshape
