// What a failed check says, the same at the call that traces, at every later one and in the middle of a run.
#pragma once
#include "graph/graph.h"
#include "shape/evaluate.h"

#include <functional>

namespace anyshape::graph {

// ShapeError: the check does not hold, its sides being a and b. `place` is "function \"f\"".
[[noreturn]] void throw_failed(const Check& check, int64_t a, int64_t b, std::string_view place);
// With the sizes of the call that fails it, and larger ones with which it would hold; those that `do_others_hold` refuses are not told.
using OtherChecks = std::function<bool(const Bindings& sizes)>;
[[noreturn]] void throw_failed(const Check& check, const Bindings& sizes, std::string_view function,
                               const OtherChecks& do_others_hold = {});

}  // namespace anyshape::graph
