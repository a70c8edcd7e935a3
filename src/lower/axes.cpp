// Joining axes by looking at how a dry run of the loop body reads its inputs.
#include "lower/axes.h"

#include "shape/prove.h"

#include <algorithm>

namespace anyshape::lower {
namespace {

// Axes a and a + 1 stay together in this access: both absent, or side by side with the whole of axis a + 1 between two indices of a. An index
// of several axes, as along a diagonal, goes on by the sum of their strides and continues no other.
bool stay_together(const ElementAccess& access, std::span<const loop::Value> index, int a, const Dim& inner_extent,
                   const loop::Builder& b) {
  if (!access.row_major) return false;
  const auto& at = access.index;
  for (loop::Value each : at) {
    const bool plain = std::ranges::find(index, each) != index.end() || b.definition(each) != nullptr;
    if (!plain) return false;  // computed from some axis: anything could depend on anything
  }
  if (std::ranges::count(at, index[a]) > 1 || std::ranges::count(at, index[a + 1]) > 1) return false;
  const auto outer = std::ranges::find(at, index[a]), inner = std::ranges::find(at, index[a + 1]);
  if (outer == at.end() && inner == at.end()) return true;
  if (outer == at.end() || inner == at.end() || inner != outer + 1) return false;
  return proves_equal((*access.shape)[static_cast<int>(inner - at.begin())], inner_extent).value_or(false);
}

void nest_from(KernelWriter& kernel, const Shape& space, std::vector<loop::Value>& index, const BodyAtIndex& body) {
  const auto axis = static_cast<int>(index.size());
  if (axis == space.rank()) return body(index);
  kernel.b.serial_for(kernel.b.integer(0), kernel.size(space[axis]), [&](loop::Value i) {
    index.push_back(i);
    nest_from(kernel, space, index, body);
  });
}

}  // namespace

void nest_loops(KernelWriter& kernel, const Shape& space, const BodyAtIndex& body) {
  std::vector<loop::Value> index;
  nest_from(kernel, space, index, body);
}

std::vector<bool> find_joins(const Shape& space, std::span<const loop::Value> index, std::span<const ElementAccess> accesses,
                             const loop::Builder& b) {
  std::vector<bool> joins(static_cast<size_t>(space.rank()), false);
  for (int axis = 1; axis < space.rank(); ++axis) {
    joins[static_cast<size_t>(axis)] =
        std::ranges::all_of(accesses, [&](const ElementAccess& access) { return stay_together(access, index, axis - 1, space[axis], b); });
  }
  return joins;
}

std::vector<AxisGroup> join_axes(const Shape& space, const std::vector<bool>& joins, const std::function<bool(int, int)>& may_join) {
  std::vector<AxisGroup> groups;
  for (int axis = 0; axis < space.rank(); ++axis) {
    if (axis > 0 && joins[static_cast<size_t>(axis)] && may_join(axis - 1, axis)) {
      groups.back().last = axis;
      groups.back().extent = groups.back().extent * space[axis];
    } else {
      groups.push_back({axis, axis, space[axis]});
    }
  }
  return groups;
}

}  // namespace anyshape::lower
