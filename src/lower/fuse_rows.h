// Reductions along rows, what feeds them and what follows them become one kernel, so that a row is read while it is near: softmax,
// normalisation, losses and their gradients.
#pragma once
#include "lower/group.h"

namespace anyshape::lower {

// Joins kernels of `groups` and puts them in an order in which what a kernel reads is written before; takes out of groups.in_memory what no
// other kernel reads.
void fuse_rows(const graph::Graph& graph, Groups& groups, Decisions& decisions);

}  // namespace anyshape::lower
