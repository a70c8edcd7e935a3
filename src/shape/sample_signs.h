// The signs of a size at a few values of its symbols: what some values refute, no search has to try to prove.
#pragma once
#include <anyshape/dim.h>

namespace anyshape {

struct Signs {
  bool negative = false, zero = false, positive = false;  // what was seen
};

// Sees nothing where symbols cannot be chosen freely: operands of `bcast` are 1 or agree.
Signs sample_signs(const Dim& dim);

}  // namespace anyshape
