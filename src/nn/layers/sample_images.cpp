// Reading between pixels: by the nearest one, or as a weighted sum of four. What is outside is brought inside first, or is a number.
#include "nn/layers/sample_images.h"

#include <anyshape/ops.h>

namespace anyshape::nn {
namespace {

// Coordinates along one axis. `extent` is its size as a number of their dtype.
class AxisCoordinates {
 public:
  AxisCoordinates(const Tensor& at, const Tensor& extent, const Sampling& sampling)
      : extent_(extent), at_(sampling.fill_mode == FillMode::Reflect ? mirrored(at) : at) {
    if (sampling.fill_mode != FillMode::Constant) at_ = inside(at_);
    first_ = floor(sampling.interpolation == Interpolation::Nearest ? at_ + 0.5 : at_);
  }

  Tensor first() const { return first_; }                // the pixel before each of them, or the nearest
  Tensor share_of_next() const { return at_ - first_; }  // of the pixel behind that
  Tensor inside(const Tensor& pixels) const { return maximum(minimum(pixels, extent_ - 1), 0); }
  Tensor is_inside(const Tensor& pixels) const { return logical_and(pixels >= 0, pixels < extent_); }

 private:
  // d c b a | a b c d | d c b a
  Tensor mirrored(const Tensor& at) const {
    const Tensor around = remainder(at + 0.5, extent_ * 2);
    return minimum(around, extent_ * 2 - around) - 0.5;
  }

  Tensor extent_, at_, first_;
};

}  // namespace

Tensor sample_images(const Tensor& images, const Coordinates& at, const Sampling& sampling) {
  const Shape shape = images.shape();
  const Tensor height = size(images, 1), width = size(images, 2);
  const AxisCoordinates rows(at.rows, cast(height, at.rows.dtype()), sampling);
  const AxisCoordinates columns(at.columns, cast(width, at.columns.dtype()), sampling);
  const Tensor pixels = reshape(images, {shape[0] * shape[1] * shape[2], shape[3]});
  const Tensor image = reshape(arange(shape[0], {.dtype = Dtype::i64}), {shape[0], 1, 1}) * height;

  const auto read = [&](const Tensor& row, const Tensor& column) {
    const Tensor index = (image + cast(rows.inside(row), Dtype::i64)) * width + cast(columns.inside(column), Dtype::i64);
    const Tensor found = take(pixels, broadcast_to(index, {shape[0], shape[1], shape[2]}));
    if (sampling.fill_mode != FillMode::Constant) return found;
    return where(expand_dims(logical_and(rows.is_inside(row), columns.is_inside(column)), -1), found, sampling.fill_value);
  };
  const Tensor row = rows.first(), column = columns.first();
  if (sampling.interpolation == Interpolation::Nearest) return read(row, column);
  const auto share = [&](const AxisCoordinates& axis) { return expand_dims(cast(axis.share_of_next(), images.dtype()), -1); };
  const Tensor below = share(rows), right = share(columns);
  const Tensor upper = read(row, column) * (1 - right) + read(row, column + 1) * right;
  const Tensor lower = read(row + 1, column) * (1 - right) + read(row + 1, column + 1) * right;
  return upper * (1 - below) + lower * below;
}

}  // namespace anyshape::nn
