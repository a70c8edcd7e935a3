// ONNX's windows - kernels, strides, dilations, pads, auto_pad, ceil_mode - as the attributes of our convolutions and pools.
#pragma once
#include "onnx/rule.h"
#include "ops/image/windows.h"

#include <vector>

namespace anyshape::onnx {

struct WindowPlace {
  WindowAttrs attrs;
  std::vector<Dim> outputs;
  std::vector<Dim> behind;  // elements that are put behind each axis
};

// For an image [batch, space..., channels] and a kernel of so many taps along each axis.
WindowPlace windows_of(const NodeCall& call, const Shape& image, const std::vector<Dim>& taps, bool rounds_up = false);
std::vector<int64_t> per_axis(const NodeCall& call, const char* attribute, size_t axes, int64_t otherwise, int64_t least = 1);

}  // namespace anyshape::onnx
