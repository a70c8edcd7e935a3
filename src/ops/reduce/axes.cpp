// The axes of a reduction: from options to validated fates.
#include "ops/reduce/axes.h"

#include "graph/bind.h"
#include "graph/named_call.h"
#include "tensor/tensor_impl.h"

#include <fmt/format.h>

namespace anyshape {

void refuse_axis_beside_axes(const Tensor& x, int64_t axis) {
  const NamedCall call("reduction", x);
  call.fail_argument(fmt::format("axis = {} beside axes", axis), "one of them: axis for one, axes for several");
}

ReduceAttrs reduce_attrs(const Tensor& x, const ReduceOptions& options) {
  const int rank = x.rank();
  ReduceAttrs attrs{.axes = {}, .keep_dims = options.keep_dims};
  const Axes axes = axes_of(x, options);
  if (!axes.has_value()) {
    for (int axis = 0; axis < rank; ++axis) attrs.axes.push_back(axis);
    return attrs;
  }
  for (int64_t axis : *axes) attrs.axes.push_back(axis < 0 && axis >= -rank ? axis + rank : axis);
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

Tensor reduced(const OpDef& op, const Tensor& x, const ReduceOptions& options) {
  const NamedCall call(op.name, x);
  ReduceAttrs attrs = reduce_attrs(x, options);
  if (!attrs.axes.empty()) return bind(op, {x}, std::move(attrs));
  const DtypeArgument given{x.dtype(), x.impl()->weak};
  Dtype dtype{};
  op.dtype(op.name, {&given, 1}, {&dtype, 1});
  return cast(x, dtype);
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
