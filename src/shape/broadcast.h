// The broadcasting rule on sizes, shared by every op that has it.
#pragma once
#include <anyshape/shape.h>

#include <optional>
#include <span>
#include <vector>

#include "shape/prove.h"
#include "shape/size_check.h"

namespace anyshape {

struct Broadcast {
  Shape shape;
  std::vector<SizeCheck> checks;  // what must hold for `shape` to be right and could not be proved
};

// Aligns the last axes. Nothing where no sizes can make it right: the op then throws with its own text.
// With `facts`, equalities known at this place count as proved.
std::optional<Broadcast> broadcast(const Shape& a, const Shape& b, const Facts* facts = nullptr);
std::optional<Broadcast> broadcast(std::span<const Shape> shapes, const Facts* facts = nullptr);

}  // namespace anyshape
