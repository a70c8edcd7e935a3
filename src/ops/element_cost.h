// What one element of an op costs once its operands are there: whether it pays to compute it again.
#pragma once
#include "graph/graph.h"

namespace anyshape {

inline constexpr int division_cost = 4;

// In instructions of a loop, a division or a root counting as several. Of an op that is said element by element.
int element_cost(const graph::Node& node);

}  // namespace anyshape
