// Which reductions go along rows.
#include "lower/row_space.h"

#include "ops/sizes.h"

#include <algorithm>

namespace anyshape::lower {

std::vector<AxisFate> fates_of(const graph::Node& reduction) {
  const std::vector<TensorSpec> specs = graph::input_specs(reduction);
  return reduction.op->reduce->axes(OpCall(*reduction.op, specs, reduction.attrs));
}

bool RowSpace::is_per_row(const Shape& shape) const {
  if (shape.rank() != row_rank && shape.rank() != space.rank()) return false;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!shape[axis].same_as(axis < row_rank ? space[axis] : Dim(1))) return false;
  }
  return true;
}

bool RowSpace::combines_rows(const graph::Node& node) const {
  if (node.op->reduce == nullptr || !is_full(node.inputs[0]->spec.shape)) return false;
  const std::vector<AxisFate> fates = fates_of(node);
  for (int axis = 0; axis < space.rank(); ++axis) {
    if (fates[static_cast<size_t>(axis)] != (axis < row_rank ? AxisFate::Reduced : AxisFate::Kept)) return false;
  }
  return true;
}

Dim RowSpace::rows() const { return count_between(space, 0, row_rank); }
Dim RowSpace::length() const { return count_between(space, row_rank, space.rank()); }

std::optional<RowSpace> row_space_of(const graph::Node& node) {
  if (node.op->reduce == nullptr) return std::nullopt;
  const std::vector<AxisFate> fates = fates_of(node);
  const auto first_reduced = std::ranges::find_if(fates, [](AxisFate fate) { return fate != AxisFate::Kept; });
  if (first_reduced == fates.begin() || first_reduced == fates.end()) return std::nullopt;
  if (!std::all_of(first_reduced, fates.end(), [](AxisFate fate) { return fate == AxisFate::Reduced; })) return std::nullopt;
  RowSpace rows{node.inputs[0]->spec.shape, static_cast<int>(first_reduced - fates.begin())};
  if (rows.length().same_as(1) || !rows.is_per_row(node.outputs[0]->spec.shape)) return std::nullopt;
  return rows;
}

}  // namespace anyshape::lower
