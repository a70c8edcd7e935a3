// Windows along the spatial axes of images [batch, spatial axes..., channels]: result o of an axis meets input o * stride + tap * dilation - before.
// What convolutions and pooling share: the attributes, where "same" puts a window, and which taps of it lie in the image.
#pragma once
#include "graph/op_def.h"
#include "loop/build.h"

#include <anyshape/spatial.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace anyshape {

class LowerCall;
class NamedCall;

// One size per spatial axis.
struct WindowAttrs {
  std::vector<Dim> strides, dilation, before;
  std::vector<Dim> padding;  // elements put around the axis, between which every window must fit; none: windows may hang over
  template <class V>
  void visit(V& v) {
    v("strides", strides);
    v("dilation", dilation);
    v("before", before);
    v("padding", padding);
  }
};

inline constexpr int most_spatial_axes = 3;

std::vector<Dim> spatial_sizes(const Shape& image);  // all but the first and the last
Shape image_shape(const Dim& images, std::span<const Dim> sizes, const Dim& channels);
Dim span_of(const Dim& taps, const Dim& dilation);  // the inputs from the first tap to the last

// A user's windows on the spatial axes of an image: where they lie and how many results they have.
struct Windows {
  WindowAttrs attrs;
  std::vector<Dim> outputs;
};
struct WindowOptions {
  std::vector<int64_t> strides, dilation;
  Padding padding;
};
Windows windows_on(const NamedCall& call, const Shape& image, std::span<const Dim> taps, const WindowOptions& options);

// ShapeError where the attributes are not those of windows on so many axes.
void require_windows(OpCall& call, const WindowAttrs& attrs, std::span<const Dim> taps);
// That a window fits between the padding of every axis.
void require_fit(OpCall& call, const WindowAttrs& attrs, std::span<const Dim> inputs, std::span<const Dim> taps);
Dim fitting_outputs(const WindowAttrs& attrs, size_t axis, const Dim& input, const Dim& taps);  // how many windows fit

// An axis as loops see it.
struct WindowAxis {
  loop::Value input, output, taps, stride, dilation, before;
};
std::vector<WindowAxis> window_axes(LowerCall& call, const WindowAttrs& attrs, std::span<const Dim> inputs, std::span<const Dim> outputs,
                                    std::span<const Dim> taps);

struct IndexRange {
  loop::Value begin, end;
};
IndexRange taps_inside(loop::Builder& b, const WindowAxis& axis, loop::Value output);    // that meet the image
IndexRange outputs_inside(loop::Builder& b, const WindowAxis& axis, loop::Value tap);    // whose tap meets the image
IndexRange outputs_around(loop::Builder& b, const WindowAxis& axis, loop::Value input);  // whose window, without dilation, has the input
loop::Value met_input(loop::Builder& b, const WindowAxis& axis, loop::Value output, loop::Value tap);

// Serial loops inside each other, whose innermost body makes the next carried values.
using RangeOf = std::function<IndexRange(std::span<const loop::Value> outer)>;
using NestBody = std::function<std::vector<loop::Value>(std::span<const loop::Value> index, std::span<const loop::Value> carried)>;
std::vector<loop::Value> carry_nest(loop::Builder& b, std::span<const RangeOf> ranges, std::span<const loop::Value> initial,
                                    const NestBody& body);

}  // namespace anyshape
