// MaxPooling and AveragePooling along one to three axes.
#include "nn/layers/spatial.h"
#include "nn/make_layer.h"

#include <anyshape/layers/image.h>

namespace anyshape {
namespace {

using Pool = Tensor (*)(const Tensor& x, const PerAxis& window, PoolOptions options);

template <Pool pool, int axes>
class PoolingLayer final : public Layer {
 public:
  explicit PoolingLayer(nn::PoolingFields fields) : Layer(type()), fields_(std::move(fields)) {
    static_cast<void>(fields_.pool_size.along(axes, type(), "pool_size"));
    if (fields_.strides) static_cast<void>(fields_.strides->along(axes, type(), "strides"));
    nn::require_padding(type(), fields_.padding, axes);
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    nn::require_spatial(*this, x, axes);
    return pool(x, fields_.pool_size, {.strides = fields_.strides, .padding = fields_.padding});
  }

 private:
  static std::string type() { return nn::spatial_type(pool == max_pool ? "MaxPooling" : "AveragePooling", axes); }

  nn::PoolingFields fields_;
};

template <Pool pool, int axes>
AnyLayer made(const PerAxis& pool_size, const PoolingOptions& options) {
  return nn::make_layer<PoolingLayer<pool, axes>>(
      nn::PoolingFields{pool_size, options.strides, options.padding, options.name, options.dtype});
}

}  // namespace

MaxPooling1D::MaxPooling1D(PerAxis pool_size, PoolingOptions options) : AnyLayer(made<max_pool, 1>(pool_size, options)) {}
MaxPooling2D::MaxPooling2D(PerAxis pool_size, PoolingOptions options) : AnyLayer(made<max_pool, 2>(pool_size, options)) {}
MaxPooling3D::MaxPooling3D(PerAxis pool_size, PoolingOptions options) : AnyLayer(made<max_pool, 3>(pool_size, options)) {}

AveragePooling1D::AveragePooling1D(PerAxis pool_size, PoolingOptions options) : AnyLayer(made<average_pool, 1>(pool_size, options)) {}
AveragePooling2D::AveragePooling2D(PerAxis pool_size, PoolingOptions options) : AnyLayer(made<average_pool, 2>(pool_size, options)) {}
AveragePooling3D::AveragePooling3D(PerAxis pool_size, PoolingOptions options) : AnyLayer(made<average_pool, 3>(pool_size, options)) {}

}  // namespace anyshape
