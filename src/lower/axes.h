// Which axes of a loop nest can be walked as one: fewer loops, longer vectors.
#pragma once
#include "lower/elements.h"

#include <vector>

namespace anyshape::lower {

// Neighbouring axes [first, last] that every access walks through without gaps, as one loop of their product.
struct AxisGroup {
  int first = 0;
  int last = 0;
  Dim extent;
};

// A loop for each axis of `space`, one in the other, around a body that is written to see what it reads.
using BodyAtIndex = std::function<void(const std::vector<loop::Value>& index)>;
void nest_loops(KernelWriter& kernel, const Shape& space, const BodyAtIndex& body);

// Per axis whether all accesses go on from the axis before it without a gap. `index[a]` is the loop variable of axis a in the accesses.
std::vector<bool> find_joins(const Shape& space, std::span<const loop::Value> index, std::span<const ElementAccess> accesses,
                             const loop::Builder& b);

// Axes are only joined where `may_join(a, a + 1)`.
std::vector<AxisGroup> join_axes(const Shape& space, const std::vector<bool>& joins, const std::function<bool(int, int)>& may_join);

}  // namespace anyshape::lower
