// max_pool, average_pool and the adaptive ones, and the rules that their ops share.
#include "ops/image/pool.h"

#include "graph/bind.h"
#include "graph/named_call.h"
#include "ops/sizes.h"

#include <anyshape/ops/image.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

constexpr std::string_view layout = "x [batch, one to three spatial axes..., channels]";

void require_image(const NamedCall& call, const Tensor& x) {
  if (x.is_ragged()) call.fail("x is ragged", "images of one size, such as to_padded(x)");
  if (x.rank() < 3 || x.rank() > 2 + most_spatial_axes) call.fail(fmt::format("x has rank {}", x.rank()), layout);
}

PoolAttrs pool_attrs(const NamedCall& call, const Tensor& x, const PerAxis& window, const PoolOptions& options) {
  require_image(call, x);
  const int axes = x.rank() - 2;
  const std::string owner(call.name());
  const std::vector<int64_t> taps = window.along(axes, owner, "the window");
  PoolAttrs attrs;
  attrs.taps.assign(taps.begin(), taps.end());
  const WindowOptions lie{.strides = options.strides.value_or(window).along(axes, owner, "strides"),
                          .dilation = std::vector<int64_t>(taps.size(), 1),
                          .padding = options.padding};
  Windows windows = windows_on(call, x.shape(), attrs.taps, lie);
  attrs.windows = std::move(windows.attrs);
  attrs.sizes = std::move(windows.outputs);
  return attrs;
}

PoolAttrs adaptive_attrs(const NamedCall& call, const Tensor& x, const PerAxis& sizes) {
  require_image(call, x);
  const std::vector<int64_t> outputs = sizes.along(x.rank() - 2, std::string(call.name()), "the size");
  PoolAttrs attrs;
  attrs.adaptive = true;
  attrs.sizes.assign(outputs.begin(), outputs.end());
  return attrs;
}

// Windows that must fit have as many results as fit.
void require_windows_on(OpCall& call, const PoolAttrs& attrs, std::span<const Dim> inputs, std::span<const Dim> outputs) {
  require_windows(call, attrs.windows, attrs.taps);
  require_fit(call, attrs.windows, inputs, attrs.taps);
  for (size_t axis = 0; axis < attrs.windows.padding.size(); ++axis)
    call.require({Relation::Equal, outputs[axis], fitting_outputs(attrs.windows, axis, inputs[axis], attrs.taps[axis])},
                 "the sizes are not those of the result", layout);
}

}  // namespace

PoolAttrs wanting(const PoolAttrs& attrs, std::vector<Dim> sizes) {
  PoolAttrs result = attrs;
  result.windows.padding.clear();
  result.sizes = std::move(sizes);
  return result;
}

Shape require_pool(OpCall& call, bool is_gradient) {
  const auto& attrs = call.attrs_as<PoolAttrs>();
  const Shape& image = call.shape(0);
  if (image.rank() < 3 || image.rank() > 2 + most_spatial_axes) call.fail(fmt::format("x has rank {}", image.rank()), layout);
  const auto axes = static_cast<size_t>(image.rank() - 2);
  if (attrs.sizes.size() != axes || attrs.taps.size() != (attrs.adaptive ? 0 : axes))
    call.fail("windows do not lie along the spatial axes", "sizes for every axis");
  const std::vector<Dim> own = spatial_sizes(image);
  if (!attrs.adaptive) require_windows_on(call, attrs, is_gradient ? attrs.sizes : own, is_gradient ? own : attrs.sizes);
  if (attrs.adaptive) {
    for (const Dim& size : is_gradient ? own : attrs.sizes)
      call.require({Relation::LessEqual, 1, size}, "an adaptive size is 0", "sizes of at least 1");
  }
  Shape result = image_shape(image[0], attrs.sizes, image[-1]);
  if (attrs.windows.padding.empty()) require_sizes(call, result);
  return result;
}

void require_pixels(OpCall& call, const Shape& results) {
  constexpr std::string_view what = "there is not one pixel per result", rule = "pixels of the shape of the results";
  const Shape& pixels = call.shape(1);
  if (pixels.rank() != results.rank()) call.fail(what, rule);
  for (int axis = 0; axis < results.rank(); ++axis) call.require({Relation::Equal, pixels[axis], results[axis]}, what, rule);
}

Tensor max_pool(const Tensor& x, const PerAxis& window, PoolOptions options) {
  const NamedCall call("max_pool", x);
  return bind(max_pool_op, {x}, pool_attrs(call, x, window, options));
}

Tensor average_pool(const Tensor& x, const PerAxis& window, PoolOptions options) {
  const NamedCall call("average_pool", x);
  return bind(average_pool_op, {x}, pool_attrs(call, x, window, options));
}

Tensor adaptive_average_pool(const Tensor& x, const PerAxis& sizes) {
  const NamedCall call("adaptive_average_pool", x);
  return bind(average_pool_op, {x}, adaptive_attrs(call, x, sizes));
}

Tensor adaptive_max_pool(const Tensor& x, const PerAxis& sizes) {
  const NamedCall call("adaptive_max_pool", x);
  return bind(max_pool_op, {x}, adaptive_attrs(call, x, sizes));
}

}  // namespace anyshape
