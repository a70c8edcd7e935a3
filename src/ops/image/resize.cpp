// resize, upsample, zero_pad and crop, made of other ops: each spatial axis by itself.
#include "graph/named_call.h"
#include "ops/image/interpolate.h"
#include "ops/image/windows.h"
#include "ops/movement/slice.h"
#include "ops/source/size.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

constexpr std::string_view layout = "x [batch, one to three spatial axes..., channels]";

void require_image(const NamedCall& call, const Tensor& x) {
  if (x.is_ragged()) call.fail("x is ragged", "images of one size, such as to_padded(x)");
  if (x.rank() < 3 || x.rank() > 2 + most_spatial_axes) call.fail(fmt::format("x has rank {}", x.rank()), layout);
}

// Every pixel weighs by its distance from the result's centre, up to the distance between results.
Tensor smooth_along(const Tensor& x, int axis, const Dim& m) {
  const Shape from = x.shape();
  const Dim n = from[axis];
  const auto number = [&](const Tensor& whole) { return cast(whole, x.dtype()); };
  const Tensor ratio = number(size_tensor(n, Dtype::i64)) / number(size_tensor(m, Dtype::i64));
  const Tensor centre = (number(arange(m, {.dtype = Dtype::i64})) + 0.5) * ratio, pixel = number(arange(n, {.dtype = Dtype::i64})) + 0.5;
  const Tensor distance = abs(reshape(pixel, {1, n}) - reshape(centre, {m, 1})) / maximum(ratio, 1);
  const Tensor weight = maximum(1 - distance, 0);
  const Tensor share = weight / sum(weight, {.axes = {1}, .keep_dims = true});
  Dim outer = 1, inner = 1;
  for (int other = 0; other < axis; ++other) outer = outer * from[other];
  for (int other = axis + 1; other < from.rank(); ++other) inner = inner * from[other];
  Shape to = from;
  to[axis] = m;
  return reshape(matmul(share, reshape(x, {outer, n, inner})), to);
}

Tensor resized(const Tensor& x, std::span<const Dim> sizes, const ResizeOptions& options) {
  const bool is_nearest = options.interpolation == Interpolation::Nearest, is_half = x.dtype() == Dtype::f16 || x.dtype() == Dtype::bf16;
  Tensor result = is_nearest || (is_floating(x.dtype()) && !is_half) ? x : cast(x, Dtype::f32);
  for (size_t k = 0; k < sizes.size(); ++k) {
    const int axis = static_cast<int>(k) + 1;
    if (sizes[k].same_as(x.shape()[axis])) continue;
    result = options.antialias && !is_nearest ? smooth_along(result, axis, sizes[k]) : interpolate(result, axis, sizes[k], !is_nearest);
  }
  return is_half ? cast(result, x.dtype()) : result;
}

std::vector<Padding::Ends> ends_of(const NamedCall& call, const Tensor& x, const Padding& padding, const char* what) {
  if (padding.kind() != Padding::Kind::Explicit)
    call.fail_argument(fmt::format("{} is {}", what, to_string(padding.config())), "numbers: 1, {1, 2} or {{1, 2}, {0, 1}}");
  return padding.along(x.rank() - 2, std::string(call.name()));
}

}  // namespace

Tensor resize(const Tensor& images, const Shape& sizes, ResizeOptions options) {
  const NamedCall call("resize", images);
  require_image(call, images);
  if (images.rank() != 4) call.fail(fmt::format("the images have rank {}", images.rank()), "[batch, height, width, channels]");
  if (sizes.rank() != 2) call.fail(fmt::format("there are {} sizes", sizes.rank()), "a height and a width");
  for (const Dim& size : sizes) {
    if (size.upper_bound() < 0) call.fail(fmt::format("the sizes are {}", to_string(sizes)), "sizes of at least 0");
  }
  return resized(images, std::vector<Dim>{sizes[0], sizes[1]}, options);
}

Tensor upsample(const Tensor& x, const PerAxis& factors, Interpolation interpolation) {
  const NamedCall call("upsample", x);
  require_image(call, x);
  const Shape from = x.shape();
  const std::vector<int64_t> times = factors.along(from.rank() - 2, "upsample", "the factor");
  Shape apart = {from[0]}, repeated = apart, to = apart;
  std::vector<Dim> sizes;
  for (size_t k = 0; k < times.size(); ++k) {
    const Dim& size = from[static_cast<int>(k) + 1];
    sizes.push_back(size * times[k]);
    to.push_back(sizes.back());
    apart.push_back(size), apart.push_back(1);
    repeated.push_back(size), repeated.push_back(times[k]);
  }
  if (interpolation == Interpolation::Bilinear) return resized(x, sizes, {});
  for (Shape* shape : {&apart, &repeated, &to}) shape->push_back(from[-1]);
  return reshape(broadcast_to(reshape(x, apart), repeated), to);
}

Tensor zero_pad(const Tensor& x, const Padding& padding) {
  const NamedCall call("zero_pad", x);
  require_image(call, x);
  std::vector<PadWidth> widths = {{0, 0}};
  for (const Padding::Ends& ends : ends_of(call, x, padding, "padding")) widths.push_back({ends.first, ends.second});
  return pad(x, widths);
}

Tensor crop(const Tensor& x, const Padding& cropping) {
  const NamedCall call("crop", x);
  require_image(call, x);
  Tensor result = x;
  int axis = 0;
  for (const Padding::Ends& ends : ends_of(call, x, cropping, "cropping")) {
    ++axis;
    result = slice_along(result, axis, ends.first, result.shape()[axis] - ends.first - ends.second);
  }
  return result;
}

}  // namespace anyshape
