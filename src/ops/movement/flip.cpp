// flip and roll: axes read backwards, or from another index on.
#include "graph/named_call.h"
#include "ops/movement/slice.h"
#include "ops/ragged/rules.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <array>

namespace anyshape {

Tensor flip(const Tensor& x, const std::vector<int64_t>& axes) {
  const NamedCall call("flip", x);
  std::array<bool, max_rank> flipped{};
  for (int64_t named : axes) {
    const int axis = call.axis(named);
    if (flipped[axis]) call.fail(fmt::format("axis {} is named twice", axis), "every axis at most once");
    flipped[axis] = true;
  }
  std::vector<SliceRange> ranges(x.rank());
  for (int axis = 0; axis < x.rank(); ++axis) ranges[axis].step = axes.empty() || flipped[axis] ? -1 : 1;
  return slice(x, ranges);
}

Tensor roll(const Tensor& x, const Dim& shift, RollOptions options) {
  const NamedCall call("roll", x);
  if (x.is_ragged()) {
    if (!options.axis) refuse_rows(call, "no axis is named");
    const RollOptions own{.axis = values_axis(call, call.axis(*options.axis))};
    return on_values(x, [&](const Tensor& values) { return roll(values, shift, own); });
  }
  if (!options.axis) return reshape(roll(reshape(x, {x.shape().count()}), shift, {.axis = 0}), x.shape());
  const int axis = call.axis(*options.axis);
  const Dim size = x.shape()[axis];
  const Dim moved = shift % max(size, 1);
  if (moved.same_as(0)) return x;
  return concat({slice_along(x, axis, size - moved, moved), slice_along(x, axis, 0, size - moved)}, {.axis = axis});
}

}  // namespace anyshape
