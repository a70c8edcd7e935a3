// Kernels that walk the same elements and share some of them become one: a gate and its uses, the slots and the weight of an update.
#pragma once
#include "lower/group.h"

namespace anyshape::lower {

// Beyond this many ops in one loop, registers run out and compile time grows without gain.
inline constexpr int largest_group = 48;

// Fills groups.kernels with the roots, in an order in which what a kernel reads is written before, and takes out of groups.in_memory what no
// other kernel reads. `ops_inside` counts the ops of the loop that ends in a root.
void merge(const graph::Graph& graph, const Roots& roots, const graph::SlotTable<graph::Node, int>& ops_inside, Groups& groups,
           Decisions& decisions);

}  // namespace anyshape::lower
