// From graph to program: every group becomes a kernel, every size an expression.
#pragma once
#include "lower/program.h"

namespace anyshape::lower {

Program lower(const graph::Graph& graph, Decisions& decisions);

// Gives every temporary a slot of the arena; temporaries whose lifetimes do not meet share one where it is provably large enough.
void plan_memory(Program& program, Decisions& decisions);

}  // namespace anyshape::lower
