// conv, depthwise_conv and conv_transpose: the ops of a convolution under the names and with the padding that users know.
#include "graph/bind.h"
#include "graph/named_call.h"
#include "ops/image/convolution.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

// Images and kernel have one to three spatial axes, the same.
int spatial_axes(const NamedCall& call, const Tensor& x, const Tensor& kernel) {
  constexpr std::string_view rule = "x [batch, spatial axes..., channels] with one to three spatial axes, and a kernel with as many";
  if (x.is_ragged() || kernel.is_ragged()) call.fail("x or the kernel is ragged", "images of one size, such as to_padded(x)");
  if (x.rank() < 3 || x.rank() > 2 + most_spatial_axes) call.fail(fmt::format("x has rank {}", x.rank()), rule);
  if (kernel.rank() != x.rank()) call.fail(fmt::format("the kernel has rank {}, x has {}", kernel.rank(), x.rank()), rule);
  return x.rank() - 2;
}

WindowOptions window_options(const NamedCall& call, int axes, const PerAxis& strides, const PerAxis& dilation, const Padding& padding) {
  const std::string owner(call.name());
  return {.strides = strides.along(axes, owner, "strides"), .dilation = dilation.along(axes, owner, "dilation"), .padding = padding};
}

std::vector<Dim> taps_of(const Tensor& kernel) {
  std::vector<Dim> taps = kernel_sizes(kernel.shape());
  taps.pop_back();
  return taps;
}

Tensor convolved(const NamedCall& call, const Tensor& x, const Tensor& kernel, const WindowOptions& options, const Dim& groups) {
  Windows windows = windows_on(call, x.shape(), taps_of(kernel), options);
  return bind(convolution_op, {x, kernel},
              ConvolutionAttrs{.windows = std::move(windows.attrs), .sizes = std::move(windows.outputs), .groups = groups});
}

// One axis of a transposed convolution: where the kernel begins, and how many results there are.
struct TransposedAxis {
  Dim before, size;
};
TransposedAxis transposed_axis(const Dim& inputs, const Dim& span, int64_t stride, bool is_same, std::optional<int64_t> output_padding) {
  if (!is_same) return {0, output_padding ? (inputs - 1) * stride + span + *output_padding : inputs * stride + max(span - stride, 0)};
  const Dim size = output_padding ? (inputs - 1) * stride + span % 2 + *output_padding : inputs * stride;
  return {max((inputs - 1) * stride + span - size, 0) / 2, size};
}

}  // namespace

Tensor conv(const Tensor& x, const Tensor& kernel, ConvOptions options) {
  const NamedCall call("conv", x, kernel);
  const int axes = spatial_axes(call, x, kernel);
  if (options.groups < 1) call.fail_argument(fmt::format("groups is {}", options.groups), "at least 1");
  return convolved(call, x, kernel, window_options(call, axes, options.strides, options.dilation, options.padding), options.groups);
}

// Every channel is a group.
Tensor depthwise_conv(const Tensor& x, const Tensor& kernel, DepthwiseConvOptions options) {
  const NamedCall call("depthwise_conv", x, kernel);
  const int axes = spatial_axes(call, x, kernel);
  Shape grouped = kernel.shape();
  const Dim channels = grouped[-2];
  grouped[-1] = channels * grouped[-1];
  grouped[-2] = 1;
  return convolved(call, x, reshape(kernel, grouped), window_options(call, axes, options.strides, options.dilation, options.padding),
                   channels);
}

Tensor conv_transpose(const Tensor& x, const Tensor& kernel, ConvTransposeOptions options) {
  const NamedCall call("conv_transpose", x, kernel);
  const int axes = spatial_axes(call, x, kernel);
  const Padding::Kind kind = options.padding.kind();
  if (kind != Padding::Kind::Valid && kind != Padding::Kind::Same)
    call.fail_argument(fmt::format("padding is {}", to_string(options.padding.config())), "\"valid\" or \"same\"");
  const WindowOptions windows = window_options(call, axes, options.strides, options.dilation, options.padding);
  std::vector<int64_t> more;
  if (options.output_padding) more = options.output_padding->along(axes, std::string(call.name()), "output_padding", 0);
  ConvolutionAttrs attrs;
  const std::vector<Dim> taps = taps_of(kernel);
  for (size_t axis = 0; axis < taps.size(); ++axis) {
    const int64_t stride = windows.strides[axis];
    if (!more.empty() && more[axis] >= stride)
      call.fail_argument(fmt::format("output_padding is {} and the stride {}", more[axis], stride), "output padding below the stride");
    const TransposedAxis placed =
        transposed_axis(x.shape()[static_cast<int>(axis) + 1], span_of(taps[axis], windows.dilation[axis]), stride,
                        kind == Padding::Kind::Same, more.empty() ? std::nullopt : std::optional(more[axis]));
    attrs.windows.strides.emplace_back(stride);
    attrs.windows.dilation.emplace_back(windows.dilation[axis]);
    attrs.windows.before.push_back(placed.before);
    attrs.sizes.push_back(placed.size);
  }
  return bind(convolution_input_gradient_op, {x, kernel}, std::move(attrs));
}

}  // namespace anyshape
