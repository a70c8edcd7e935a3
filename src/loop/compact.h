// The last part of building a kernel: drops values that nothing uses and numbers the rest in the order of their definition.
#pragma once
#include "loop/ir.h"

namespace anyshape::loop {

void compact(Kernel& kernel);

}  // namespace anyshape::loop
