// A compiled trace for people: kernels in order with what they compute and move, memory, decisions, passes. What explain() prints.
#pragma once
#include "lower/program.h"
#include "shape/substitute.h"

#include <string>

namespace anyshape::function_detail {

// `arena` is the bytes of all blocks together. Sizes in `known` are put into all formulas.
std::string explain_program(const lower::Program& program, const Dim& arena, const Substitution& known);

}  // namespace anyshape::function_detail
