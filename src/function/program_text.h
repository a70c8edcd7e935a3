// A compiled trace for people: kernels in order with what they compute and move, memory, decisions, passes. What explain() prints in full.
#pragma once
#include "function/compile_report.h"
#include "lower/program.h"
#include "shape/substitute.h"

#include <string>
#include <string_view>

namespace anyshape::function_detail {

// "loop", "product" of the library, "mixed" for a product with arithmetic around it, "sort" of the library; "scan", "while" or "cond".
std::string_view kind_of(const lower::Program& program, const lower::Item& item);

// `arena` is the bytes of all blocks together. Sizes in `known` are put into all formulas.
std::string explain_program(const lower::Program& program, const CompileReport& report, const Dim& arena, const Substitution& known);

}  // namespace anyshape::function_detail
