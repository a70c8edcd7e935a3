// Where ONNX puts windows.
#include "onnx/windows.h"

#include <fmt/format.h>

namespace anyshape::onnx {

std::vector<int64_t> per_axis(const NodeCall& call, const char* attribute, size_t axes, int64_t otherwise, int64_t least) {
  const std::vector<int64_t> given = call.integers(attribute, std::vector<int64_t>(axes, otherwise));
  if (given.size() != axes)
    call.fail(fmt::format("attribute \"{}\" has {} numbers", attribute, given.size()), fmt::format("one for each of {} axes", axes));
  for (const int64_t number : given) {
    if (number < least) call.fail(fmt::format("attribute \"{}\" holds {}", attribute, number), fmt::format("at least {}", least));
  }
  return given;
}

WindowPlace windows_of(const NodeCall& call, const Shape& image, const std::vector<Dim>& taps, bool rounds_up) {
  const size_t axes = taps.size();
  if (image.rank() != static_cast<int>(axes) + 2)
    call.fail(fmt::format("the input has rank {} and the window {} axes", image.rank(), axes), "two axes more than the window");
  const std::vector<int64_t> strides = per_axis(call, "strides", axes, 1), dilation = per_axis(call, "dilations", axes, 1);
  const std::string place = call.text("auto_pad", "NOTSET");
  std::vector<int64_t> pads(2 * axes, 0);
  if (place == "NOTSET" || place.empty()) {
    pads = call.integers("pads", pads);
    if (pads.size() != 2 * axes)
      call.fail(fmt::format("attribute \"pads\" has {} numbers", pads.size()), fmt::format("two for each of {} axes", axes));
  } else if (place != "VALID" && place != "SAME_UPPER" && place != "SAME_LOWER") {
    call.fail(fmt::format("auto_pad is \"{}\"", place), "NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  }
  const bool is_same = place.starts_with("SAME");
  WindowPlace windows;
  for (size_t axis = 0; axis < axes; ++axis) {
    const Dim size = image[static_cast<int>(axis) + 1], span = span_of(taps[axis], dilation[axis]);
    const int64_t stride = strides[axis];
    windows.attrs.strides.emplace_back(stride);
    windows.attrs.dilation.emplace_back(dilation[axis]);
    if (is_same) {
      const Dim outputs = (size + stride - 1) / stride, all = max((outputs - 1) * stride + span - size, 0);
      const Dim before = place == "SAME_UPPER" ? all / 2 : all - all / 2;
      windows.attrs.before.push_back(before);
      windows.behind.push_back(all - before);
      windows.outputs.push_back(outputs);
      continue;
    }
    const int64_t before = pads[axis], behind = pads[axis + axes];
    if (before < 0 || behind < 0) call.unsupported("negative padding of windows");
    const Dim room = size + before + behind - span;
    windows.attrs.before.emplace_back(before);
    windows.behind.emplace_back(behind);
    if (!rounds_up) {
      windows.attrs.padding.emplace_back(before + behind);
      windows.outputs.push_back(room / stride + 1);
    } else {  // a window may hang over the end, but begins before it
      windows.outputs.push_back(min((room + stride - 1) / stride + 1, (size + before - 1) / stride + 1));
    }
  }
  return windows;
}

}  // namespace anyshape::onnx
