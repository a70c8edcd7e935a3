// ZeroPadding and Cropping along one to three axes.
#include "nn/layers/spatial.h"
#include "nn/make_layer.h"

#include <anyshape/error.h>
#include <anyshape/layers/image.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

// ArgumentError for "valid" and its like: only numbers say how much.
Padding required_numbers(const std::string& type, const char* what, Padding padding, int axes) {
  if (padding.kind() != Padding::Kind::Explicit)
    throw ArgumentError(fmt::format("{}: {} is {}; expected numbers.", type, what, to_string(padding.config())));
  static_cast<void>(padding.along(axes, type));
  return padding;
}

template <int axes>
class ZeroPaddingLayer final : public Layer {
 public:
  explicit ZeroPaddingLayer(nn::PaddingFields<axes> fields)
      : Layer(nn::spatial_type("ZeroPadding", axes)),
        padding_(required_numbers(nn::spatial_type("ZeroPadding", axes), "padding", std::move(fields.padding), axes)) {}

  Tensor call(const Tensor& x, const CallContext&) override {
    nn::require_spatial(*this, x, axes);
    return zero_pad(x, padding_);
  }

 private:
  Padding padding_;
};

template <int axes>
class CroppingLayer final : public Layer {
 public:
  explicit CroppingLayer(nn::CroppingFields<axes> fields)
      : Layer(nn::spatial_type("Cropping", axes)),
        cropping_(required_numbers(nn::spatial_type("Cropping", axes), "cropping", std::move(fields.cropping), axes)) {}

  Tensor call(const Tensor& x, const CallContext&) override {
    nn::require_spatial(*this, x, axes);
    return crop(x, cropping_);
  }

 private:
  Padding cropping_;
};

template <int axes>
AnyLayer padded(Padding padding, const LayerOptions& options) {
  return nn::make_layer<ZeroPaddingLayer<axes>>(nn::PaddingFields<axes>{std::move(padding), options.name, options.dtype});
}
template <int axes>
AnyLayer cropped(Padding cropping, const LayerOptions& options) {
  return nn::make_layer<CroppingLayer<axes>>(nn::CroppingFields<axes>{std::move(cropping), options.name, options.dtype});
}

}  // namespace

ZeroPadding1D::ZeroPadding1D(Padding padding, LayerOptions options) : AnyLayer(padded<1>(std::move(padding), options)) {}
ZeroPadding2D::ZeroPadding2D(Padding padding, LayerOptions options) : AnyLayer(padded<2>(std::move(padding), options)) {}
ZeroPadding3D::ZeroPadding3D(Padding padding, LayerOptions options) : AnyLayer(padded<3>(std::move(padding), options)) {}

Cropping1D::Cropping1D(Padding cropping, LayerOptions options) : AnyLayer(cropped<1>(std::move(cropping), options)) {}
Cropping2D::Cropping2D(Padding cropping, LayerOptions options) : AnyLayer(cropped<2>(std::move(cropping), options)) {}
Cropping3D::Cropping3D(Padding cropping, LayerOptions options) : AnyLayer(cropped<3>(std::move(cropping), options)) {}

}  // namespace anyshape
