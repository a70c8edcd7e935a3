// Concatenation without a copy: what makes the parts writes them where they stand.
#pragma once
#include "lower/group.h"

namespace anyshape::lower {

// Fills `groups.places` and `groups.only_placed`, and drops the kernels of concats whose parts are all placed. Switched off by "concat_in_place".
void concat_in_place(const graph::Graph& graph, Groups& groups, Decisions& decisions);

}  // namespace anyshape::lower
