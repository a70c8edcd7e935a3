// Conv1D, Conv2D and Conv3D: one class, by the number of spatial axes.
#include "nn/layers/spatial.h"
#include "nn/make_layer.h"
#include "nn/named_activation.h"
#include "shape/prove.h"

#include "graph/layer_path.h"

#include <anyshape/error.h>
#include <anyshape/layers/image.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

template <int axes>
class ConvolutionLayer final : public Layer {
 public:
  ConvolutionLayer(int64_t filters, const PerAxis& kernel_size, ConvolutionOptions options)
      : Layer(nn::spatial_type("Conv", axes)), filters_(filters), options_(std::move(options)) {
    const std::string type = nn::spatial_type("Conv", axes);
    nn::require_positive(type.c_str(), "filters", filters);
    nn::require_positive(type.c_str(), "groups", options_.groups);
    if (filters % options_.groups != 0) {
      throw ArgumentError(fmt::format("{}: groups is {} and filters {}; expected a number of groups that divides the filters.", type,
                                      options_.groups, filters));
    }
    kernel_size_ = kernel_size.along(axes, type, "kernel_size");
    nn::require_one_of(type, options_.strides.along(axes, type, "strides"), options_.dilation_rate.along(axes, type, "dilation_rate"));
    nn::require_padding(type, options_.padding, axes);
  }

  void build(const Shape& input) override {
    const Dim& channels = input[-1];
    if (channels.is_constant() && channels.value() % options_.groups != 0) {
      throw ShapeError(fmt::format("{}: x has {} channels and groups is {}; expected a number of groups that divides the channels.{}",
                                   nn::type_of(*this), channels.value(), options_.groups, current_place()));
    }
    kernel_ = weight("kernel", nn::kernel_shape(kernel_size_, channels / options_.groups, filters_),
                     {.initializer = options_.kernel_initializer, .regularizer = options_.kernel_regularizer});
    if (options_.use_bias)
      bias_ = weight("bias", {filters_}, {.initializer = options_.bias_initializer, .regularizer = options_.bias_regularizer});
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    nn::require_spatial(*this, x, axes);
    Tensor result =
        conv(x, kernel_,
             {.strides = options_.strides, .padding = options_.padding, .dilation = options_.dilation_rate, .groups = options_.groups});
    if (options_.use_bias) result = result + bias_;
    return nn::activate(options_.activation, result);
  }

 private:
  int64_t filters_;
  std::vector<int64_t> kernel_size_;
  ConvolutionOptions options_;
  Variable kernel_, bias_;
};

template <int axes>
AnyLayer made(int64_t filters, const PerAxis& kernel_size, const ConvolutionOptions& options) {
  return nn::make_layer<ConvolutionLayer<axes>>(options, nn::ConvolutionArguments{filters, kernel_size});
}

}  // namespace

Conv1D::Conv1D(int64_t filters, PerAxis kernel_size, ConvolutionOptions options) : AnyLayer(made<1>(filters, kernel_size, options)) {}
Conv2D::Conv2D(int64_t filters, PerAxis kernel_size, ConvolutionOptions options) : AnyLayer(made<2>(filters, kernel_size, options)) {}
Conv3D::Conv3D(int64_t filters, PerAxis kernel_size, ConvolutionOptions options) : AnyLayer(made<3>(filters, kernel_size, options)) {}

}  // namespace anyshape
