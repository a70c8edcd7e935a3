// UpSampling, Resizing and CenterCrop: images of other sizes.
#include "graph/named_call.h"
#include "nn/layers/middle_part.h"
#include "nn/layers/spatial.h"
#include "nn/make_layer.h"
#include "ops/movement/slice.h"

#include <anyshape/layers/image.h>
#include <anyshape/ops.h>

namespace anyshape {
namespace nn {

Tensor middle_part(const Tensor& images, int64_t height, int64_t width, const char* owner) {
  const NamedCall call(owner, images);
  const Shape shape = images.shape();
  const Tensor rows = slice_along(images, 1, (shape[1] - height) / 2, height);
  return slice_along(rows, 2, (shape[2] - width) / 2, width);
}

Tensor middle_of_ratio(const Tensor& images, int64_t height, int64_t width) {
  const Shape shape = images.shape();
  const Dim rows = min(shape[1], shape[2] * height / width), columns = min(shape[2], shape[1] * width / height);
  return slice_along(slice_along(images, 1, (shape[1] - rows) / 2, rows), 2, (shape[2] - columns) / 2, columns);
}

}  // namespace nn

namespace {

template <int axes>
class UpSamplingLayer final : public Layer {
 public:
  explicit UpSamplingLayer(const nn::SizeFields& fields) : UpSamplingLayer(fields.size, Interpolation::Nearest) {}
  explicit UpSamplingLayer(const nn::UpSamplingFields& fields) : UpSamplingLayer(fields.size, fields.interpolation) {}

  Tensor call(const Tensor& x, const CallContext&) override {
    nn::require_spatial(*this, x, axes);
    return upsample(x, size_, interpolation_);
  }

 private:
  UpSamplingLayer(PerAxis size, Interpolation interpolation)
      : Layer(nn::spatial_type("UpSampling", axes)), size_(std::move(size)), interpolation_(interpolation) {
    static_cast<void>(size_.along(axes, nn::spatial_type("UpSampling", axes), "size"));
  }

  PerAxis size_;
  Interpolation interpolation_;
};

class ResizingLayer final : public Layer {
 public:
  ResizingLayer(int64_t height, int64_t width, const ResizingOptions& options)
      : Layer("Resizing"), height_(height), width_(width), options_(options) {
    nn::require_positive("Resizing", "height", height);
    nn::require_positive("Resizing", "width", width);
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    nn::require_spatial(*this, x, 2);
    const Tensor images = cast(x, dtype());
    const Tensor part = options_.crop_to_aspect_ratio ? nn::middle_of_ratio(images, height_, width_) : images;
    return resize(part, {height_, width_}, {.interpolation = options_.interpolation, .antialias = options_.antialias});
  }

 private:
  int64_t height_, width_;
  ResizingOptions options_;
};

class CenterCropLayer final : public Layer {
 public:
  CenterCropLayer(int64_t height, int64_t width, const LayerOptions&) : Layer("CenterCrop"), height_(height), width_(width) {
    nn::require_positive("CenterCrop", "height", height);
    nn::require_positive("CenterCrop", "width", width);
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    nn::require_spatial(*this, x, 2);
    return nn::middle_part(cast(x, dtype()), height_, width_, "CenterCrop");
  }

 private:
  int64_t height_, width_;
};

}  // namespace

UpSampling1D::UpSampling1D(PerAxis size, LayerOptions options)
    : AnyLayer(nn::make_layer<UpSamplingLayer<1>>(nn::SizeFields{std::move(size), options.name, options.dtype})) {}
UpSampling2D::UpSampling2D(PerAxis size, UpSamplingOptions options)
    : AnyLayer(
          nn::make_layer<UpSamplingLayer<2>>(nn::UpSamplingFields{std::move(size), options.interpolation, options.name, options.dtype})) {}
UpSampling3D::UpSampling3D(PerAxis size, LayerOptions options)
    : AnyLayer(nn::make_layer<UpSamplingLayer<3>>(nn::SizeFields{std::move(size), options.name, options.dtype})) {}

Resizing::Resizing(int64_t height, int64_t width, ResizingOptions options)
    : AnyLayer(nn::make_layer<ResizingLayer>(options, nn::ImageSizeArguments{height, width})) {}
CenterCrop::CenterCrop(int64_t height, int64_t width, LayerOptions options)
    : AnyLayer(nn::make_layer<CenterCropLayer>(options, nn::ImageSizeArguments{height, width})) {}

}  // namespace anyshape
