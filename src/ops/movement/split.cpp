// split and unstack: parts of a tensor along an axis, each a slice of it.
#include "graph/named_call.h"
#include "ops/movement/slice.h"
#include "ops/ragged/rules.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {

std::vector<Tensor> split_evenly(const Tensor& x, int64_t sections, SplitOptions options) {
  const NamedCall call("split", x);
  const int axis = call.axis(options.axis);
  if (x.is_ragged()) {
    const SplitOptions own{.axis = values_axis(call, axis)};
    return parts_of_values(x, [&](const Tensor& values) { return split_evenly(values, sections, own); });
  }
  const Dim size = x.shape()[axis];
  if (sections < 1 || !(size % sections == 0)) {
    call.fail(fmt::format("size {} along axis {} in {} sections", to_string(size), axis, sections),
              "a number of sections that divides the axis's size");
  }
  std::vector<Tensor> parts;
  const Dim length = size / sections;
  for (int64_t i = 0; i < sections; ++i) parts.push_back(slice_along(x, axis, length * i, length));
  return parts;
}

std::vector<Tensor> split(const Tensor& x, const std::vector<Dim>& indices, SplitOptions options) {
  const NamedCall call("split", x);
  const int axis = call.axis(options.axis);
  std::vector<SliceRange> ranges(axis + 1);
  std::vector<Tensor> parts;
  for (size_t i = 0; i <= indices.size(); ++i) {
    ranges[axis].begin = i == 0 ? Dim(0) : indices[i - 1];
    ranges[axis].end = i < indices.size() ? std::optional(indices[i]) : std::nullopt;
    parts.push_back(slice(x, ranges));
  }
  return parts;
}

std::vector<Tensor> unstack(const Tensor& x, StackOptions options) {
  const NamedCall call("unstack", x);
  const int axis = call.axis(options.axis);
  const StackOptions own{.axis = x.is_ragged() ? values_axis(call, axis) : axis};
  const Shape from = x.shape();
  if (!from[axis].is_constant()) {
    throw TraceError(
        fmt::format("unstack: axis {} has the size \"{}\", which is symbolic: x is {}{}; expected a constant size. Give it one in the "
                    "function's signature, or compute on the whole tensor.",
                    axis, to_string(from[axis]), to_string(x.dtype()), to_string(from)));
  }
  if (x.is_ragged()) return parts_of_values(x, [&](const Tensor& values) { return unstack(values, own); });
  Shape shape;
  for (int other = 0; other < from.rank(); ++other) {
    if (other != axis) shape.push_back(from[other]);
  }
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < from[axis].value(); ++i) parts.push_back(reshape(slice_along(x, axis, i, 1), shape));
  return parts;
}

}  // namespace anyshape
