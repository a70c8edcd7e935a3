// One validation for the three ops of a convolution: which sizes there are, and that the operands have them.
#include "ops/image/convolution.h"
#include "ops/sizes.h"

#include <fmt/format.h>

namespace anyshape {
namespace {

using Wanted = ConvolutionWork::Wanted;

constexpr std::string_view layout =
    "x [batch, one to three spatial axes..., channels] and kernel [a size for each..., channels / groups, filters]";

constexpr std::string_view other_sizes = "the sizes are not those of the result";

void require_ranks(OpCall& call) {
  const int first = call.shape(0).rank(), second = call.shape(1).rank();
  if (first < 3 || first > 2 + most_spatial_axes) call.fail(fmt::format("the first operand has rank {}", first), layout);
  if (second != first) call.fail(fmt::format("ranks {} and {} differ", first, second), layout);
}

void require_channels(OpCall& call, const ConvolutionShapes& shapes, const Dim& groups) {
  const std::string in_groups = groups.same_as(1) ? "" : fmt::format(" in each of {} groups", to_string(groups));
  call.require(
      {Relation::Equal, shapes.channels, shapes.of_group * groups},
      fmt::format("the image has {} channels, the kernel takes {}{}", to_string(shapes.channels), to_string(shapes.of_group), in_groups),
      "kernel.shape[-2] * groups == x.shape[-1]");
}

void require_filters(OpCall& call, const Dim& filters, const Dim& groups) {
  if (groups.same_as(1)) return;
  call.require({Relation::LessEqual, 0, groups}, "the number of groups is negative", "groups of at least 0");
  // Where a group is a channel, the filters are so many times the channels.
  if (!groups.is_constant()) return;
  call.require({Relation::Equal, filters % max(groups, 1), 0},
               fmt::format("{} filters do not go into {} groups", to_string(filters), to_string(groups)),
               "filters that are a multiple of groups");
}

// Windows that must fit have as many results as fit; others may have any number of them.
void require_sizes_along(OpCall& call, const WindowAttrs& windows, const ConvolutionShapes& shapes) {
  if (windows.padding.empty()) {
    require_sizes(call, image_shape(0, shapes.outputs, 0));
    require_sizes(call, image_shape(0, shapes.inputs, 0));
    return;
  }
  require_fit(call, windows, shapes.inputs, shapes.taps);
  for (size_t axis = 0; axis < shapes.outputs.size(); ++axis)
    call.require({Relation::Equal, shapes.outputs[axis], fitting_outputs(windows, axis, shapes.inputs[axis], shapes.taps[axis])},
                 other_sizes, layout);
}

}  // namespace

ConvolutionAttrs wanting(const ConvolutionAttrs& attrs, std::vector<Dim> sizes) {
  ConvolutionAttrs result = attrs;
  result.windows.padding.clear();
  result.sizes = std::move(sizes);
  return result;
}

std::vector<Dim> kernel_sizes(const Shape& kernel) {
  std::vector<Dim> sizes;
  for (int axis = 0; axis + 1 < kernel.rank(); ++axis) sizes.push_back(kernel[axis]);
  return sizes;
}

ConvolutionShapes convolution_shapes(const OpCall& call, Wanted wanted) {
  const auto& attrs = call.attrs_as<ConvolutionAttrs>();
  const Shape &first = call.shape(0), &second = call.shape(1);
  std::vector<Dim> taps = wanted == Wanted::KernelGradient ? attrs.sizes : kernel_sizes(second);
  const Dim of_group = taps.back();
  taps.pop_back();
  ConvolutionShapes shapes{.images = first[0],
                           .channels = wanted == Wanted::InputGradient ? of_group * attrs.groups : first[-1],
                           .of_group = of_group,
                           .filters = second[-1],
                           .inputs = wanted == Wanted::InputGradient ? attrs.sizes : spatial_sizes(first),
                           .outputs = attrs.sizes,
                           .taps = std::move(taps)};
  if (wanted == Wanted::InputGradient) shapes.outputs = spatial_sizes(first);
  if (wanted == Wanted::KernelGradient) shapes.outputs = spatial_sizes(second);
  return shapes;
}

ConvolutionShapes require_convolution(OpCall& call, Wanted wanted) {
  require_ranks(call);
  const auto& attrs = call.attrs_as<ConvolutionAttrs>();
  const Shape &first = call.shape(0), &second = call.shape(1);
  const auto axes = static_cast<size_t>(first.rank() - 2);
  if (attrs.sizes.size() != (wanted == Wanted::KernelGradient ? axes + 1 : axes)) call.fail(other_sizes, layout);
  ConvolutionShapes shapes = convolution_shapes(call, wanted);
  require_windows(call, attrs.windows, shapes.taps);
  if (wanted == Wanted::InputGradient) {
    call.require({Relation::Equal, first[-1], second[-1]},
                 fmt::format("the image has {} channels, the kernel {} filters", to_string(first[-1]), to_string(second[-1])),
                 "kernel.shape[-1] == x.shape[-1]");
  } else {
    require_channels(call, shapes, attrs.groups);
  }
  if (wanted == Wanted::KernelGradient)
    call.require({Relation::Equal, first[0], second[0]}, "there is not one result per image", "x.shape[0] == dy.shape[0]");
  require_filters(call, shapes.filters, attrs.groups);
  require_sizes_along(call, attrs.windows, shapes);
  return shapes;
}

}  // namespace anyshape
