// Whether two kernels say the same, numbers by their bits: then their texts are equal, and so is their code.
#pragma once
#include "loop/ir.h"

#include <cstddef>

namespace anyshape::loop {

bool is_same(const Kernel& a, const Kernel& b);
size_t hash_of(const Kernel& kernel);  // equal for the same

}  // namespace anyshape::loop
