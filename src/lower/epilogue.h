// Products and what follows them element by element (bias, activation, residual, the derivative of an activation) become one kernel: each block
// of a product's result is worked on while it is in cache. Switched off by the name "epilogue".
#pragma once
#include "lower/group.h"

namespace anyshape::lower {

// Joins products with the loops that read their results at their own index, but those that write `updates` over what they read. Moves kernels,
// but none before what it reads.
void join_epilogues(const graph::Graph& graph, std::span<const Update> updates, Groups& groups, Decisions& decisions);

}  // namespace anyshape::lower
