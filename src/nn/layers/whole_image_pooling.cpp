// Poolings whose results do not grow with the image: one number per channel, or as many as are asked for.
#include "nn/layers/spatial.h"
#include "nn/make_layer.h"

#include <anyshape/layers/image.h>
#include <anyshape/ops.h>

namespace anyshape {
namespace {

using Reduce = Tensor (*)(const Tensor& x, ReduceOptions options);

template <Reduce reduce, int axes>
class GlobalPoolingLayer final : public Layer {
 public:
  explicit GlobalPoolingLayer(const GlobalPoolingOptions& options)
      : Layer(nn::spatial_type(reduce == static_cast<Reduce>(max) ? "GlobalMaxPooling" : "GlobalAveragePooling", axes)),
        keepdims_(options.keepdims) {}

  Tensor call(const Tensor& x, const CallContext&) override {
    nn::require_spatial(*this, x, axes);
    std::vector<int64_t> spatial;
    for (int64_t axis = 1; axis <= axes; ++axis) spatial.push_back(axis);
    return reduce(x, {.axes = spatial, .keep_dims = keepdims_});
  }

 private:
  bool keepdims_;
};

using Pool = Tensor (*)(const Tensor& x, const PerAxis& sizes);

template <Pool pool>
class AdaptivePoolingLayer final : public Layer {
 public:
  AdaptivePoolingLayer(PerAxis output_size, const LayerOptions&) : Layer(type()), output_size_(std::move(output_size)) {
    static_cast<void>(output_size_.along(2, type(), "output_size"));
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    nn::require_spatial(*this, x, 2);
    return pool(x, output_size_);
  }

 private:
  static const char* type() { return pool == adaptive_max_pool ? "AdaptiveMaxPooling2D" : "AdaptiveAveragePooling2D"; }

  PerAxis output_size_;
};

}  // namespace

GlobalAveragePooling2D::GlobalAveragePooling2D(GlobalPoolingOptions options)
    : AnyLayer(nn::make_layer<GlobalPoolingLayer<mean, 2>>(options)) {}
GlobalAveragePooling3D::GlobalAveragePooling3D(GlobalPoolingOptions options)
    : AnyLayer(nn::make_layer<GlobalPoolingLayer<mean, 3>>(options)) {}
GlobalMaxPooling2D::GlobalMaxPooling2D(GlobalPoolingOptions options) : AnyLayer(nn::make_layer<GlobalPoolingLayer<max, 2>>(options)) {}
GlobalMaxPooling3D::GlobalMaxPooling3D(GlobalPoolingOptions options) : AnyLayer(nn::make_layer<GlobalPoolingLayer<max, 3>>(options)) {}

AdaptiveAveragePooling2D::AdaptiveAveragePooling2D(PerAxis output_size, LayerOptions options)
    : AnyLayer(nn::make_layer<AdaptivePoolingLayer<adaptive_average_pool>>(options, nn::OutputSizeArguments{std::move(output_size)})) {}
AdaptiveMaxPooling2D::AdaptiveMaxPooling2D(PerAxis output_size, LayerOptions options)
    : AnyLayer(nn::make_layer<AdaptivePoolingLayer<adaptive_max_pool>>(options, nn::OutputSizeArguments{std::move(output_size)})) {}

}  // namespace anyshape
