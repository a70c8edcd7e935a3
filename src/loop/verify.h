// Checks that a kernel is well formed: types, scopes, loop rules. Run on every kernel before it is interpreted or compiled.
#pragma once
#include "loop/ir.h"

namespace anyshape::loop {

void verify(const Kernel& kernel);  // InternalError naming the kernel and the instruction

}  // namespace anyshape::loop
