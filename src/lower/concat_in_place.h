// Concatenation without a copy: what makes the parts writes them where they stand.
#pragma once
#include "lower/group.h"

namespace anyshape::lower {

// Fills `groups.parts_of` and `groups.only_parts`, and drops the kernels of concats whose parts are all written in it. Switched off by "concat_in_place".
void concat_in_place(const graph::Graph& graph, Groups& groups, Decisions& decisions);

}  // namespace anyshape::lower
