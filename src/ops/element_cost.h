// What one element of an op costs once its operands are there: whether it pays to compute it again.
#pragma once
#include "graph/graph.h"

namespace anyshape {

// In instructions of a loop, a division or a root counting as several. Of an op that is said element by element.
int element_cost(const graph::Node& node);
inline constexpr int division_cost = 4;

// What costs at most this is computed again rather than ...
inline constexpr int cheaper_than_waiting = 3;  // ... kept in memory until the backward pass
inline constexpr int cheaper_than_reading = 4;  // ... written by one kernel and read by others
inline constexpr int cheaper_than_scratch = 7;  // ... written and read again by the same task, while it is near

}  // namespace anyshape
