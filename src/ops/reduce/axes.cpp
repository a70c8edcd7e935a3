// The axes of a reduction: from options to validated fates.
#include "ops/reduce/axes.h"

#include <fmt/format.h>

namespace anyshape {

ReduceAttrs reduce_attrs(const Tensor& x, const ReduceOptions& options) {
  const int rank = x.rank();
  ReduceAttrs attrs{.axes = {}, .keep_dims = options.keep_dims};
  if (!options.axes.has_value()) {
    for (int axis = 0; axis < rank; ++axis) attrs.axes.push_back(axis);
    return attrs;
  }
  for (int64_t axis : *options.axes) attrs.axes.push_back(axis < 0 && axis >= -rank ? axis + rank : axis);
  return attrs;
}

std::vector<AxisFate> reduce_fates(const OpCall& call) {
  const int rank = call.shape(0).rank();
  std::vector<AxisFate> fates(rank, AxisFate::Kept);
  for (int64_t named : call.attrs_as<ReduceAttrs>().axes) {
    const int axis = call.axis(named, rank);
    if (fates[axis] == AxisFate::Reduced) call.fail(fmt::format("axis {} is named twice", axis), "every axis at most once");
    fates[axis] = AxisFate::Reduced;
  }
  return fates;
}

void require_axes(std::string_view op, const Tensor& x, const ReduceAttrs& attrs) {
  const OpDef named{.name = op};
  const TensorSpec spec{x.dtype(), x.shape(), {}};
  static_cast<void>(reduce_fates(OpCall(named, std::span(&spec, 1), Attrs(attrs))));
}

Specs reduce_shape(OpCall& call) {
  const std::vector<AxisFate> fates = reduce_fates(call);
  const bool keep_dims = call.attrs_as<ReduceAttrs>().keep_dims;
  Shape shape;
  for (int axis = 0; axis < call.shape(0).rank(); ++axis) {
    if (fates[axis] == AxisFate::Kept)
      shape.push_back(call.shape(0)[axis]);
    else if (keep_dims)
      shape.push_back(1);
  }
  return {{call.inputs[0].dtype, std::move(shape), {}}};
}

Shape kept_shape(const Shape& shape, const std::vector<int64_t>& axes) {
  Shape kept = shape;
  for (int64_t axis : axes) kept[static_cast<int>(axis)] = 1;
  return kept;
}

Dim reduced_count(const Shape& shape, const std::vector<int64_t>& axes) {
  Dim count = 1;
  for (int64_t axis : axes) count = count * shape[static_cast<int>(axis)];
  return count;
}

}  // namespace anyshape
