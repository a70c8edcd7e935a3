// A compiled trace on one screen: its kernels by forward, gradient and update, with the layers they compute. What explain() prints by default.
#pragma once
#include "runtime/executable.h"
#include "shape/substitute.h"

#include <string>

namespace anyshape::function_detail {

// Sizes in `known` are put into all formulas.
std::string summarize(const runtime::Executable& executable, const Substitution& known);

}  // namespace anyshape::function_detail
