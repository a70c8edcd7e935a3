// Cuts the loops of kernels for a CPU: what is independent becomes tasks of the pool and vector lanes. The one place that knows how much one task
// does; ops and lowering say what is independent, and how much work it is.
#pragma once
#include "loop/target.h"
#include "lower/program.h"

namespace anyshape::lower {

loop::Kernel map_for_cpu(loop::Kernel kernel, const loop::Target& target);

// All kernels of the program; equal ones stay one.
void map_for_cpu(Program& program, const loop::Target& target);

}  // namespace anyshape::lower
