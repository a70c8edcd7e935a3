// What a loop's body computes in the same way in every step is taken out of it before the loop is made.
#pragma once
#include "ops/control/scan.h"

namespace anyshape {

// What depends on nothing but captured values is computed once. Products of what only depends on the sequences are made for all steps at
// once and become sequences. Weights that the steps multiply transposed are transposed once.
void hoist(Region& region, std::vector<Tensor>& sequences, const ScanAttrs& attrs);

}  // namespace anyshape
