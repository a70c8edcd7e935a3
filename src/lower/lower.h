// From graph to program: every group becomes a kernel, every size an expression.
#pragma once
#include "base/decision.h"
#include "lower/program.h"

#include <span>

namespace anyshape::lower {

// Loops that write `updates` stay by themselves, for plan_updates.
Program lower(const graph::Graph& graph, Decisions& decisions, std::span<const Update> updates = {});

// Gives every temporary a slot of the arena; temporaries whose lifetimes do not meet share one, and an output may overwrite an input. Switched
// off by "in_place" and "reuse_memory".
void plan_memory(Program& program, Decisions& decisions);

// Finds out which of the updates may be written in place, if it should turn out that nobody else holds the variable's value. Switched off by
// "update_in_place".
void plan_updates(Program& program, std::span<const Update> updates, Decisions& decisions);

}  // namespace anyshape::lower
