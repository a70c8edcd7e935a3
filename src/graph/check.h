// What a failed check says, the same at the call that traces and at every later one.
#pragma once
#include "graph/graph.h"
#include "shape/evaluate.h"

namespace anyshape::graph {

// ShapeError with the sizes of the call that fails it.
[[noreturn]] void throw_failed(const Check& check, const Bindings& sizes, std::string_view function);

}  // namespace anyshape::graph
