// What a failed check says, the same at the call that traces, at every later one and in the middle of a run.
#pragma once
#include "graph/graph.h"
#include "shape/evaluate.h"

namespace anyshape::graph {

// ShapeError: the check does not hold, its sides being a and b. `place` is "function \"f\"".
[[noreturn]] void throw_failed(const Check& check, int64_t a, int64_t b, std::string_view place);
// With the sizes of the call that fails it.
[[noreturn]] void throw_failed(const Check& check, const Bindings& sizes, std::string_view function);

}  // namespace anyshape::graph
