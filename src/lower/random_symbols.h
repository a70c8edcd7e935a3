// The two hidden sizes every program with random ops is given at each call: the process's key, and the counter of the call's
// first random op.
#pragma once
#include <anyshape/dim.h>

namespace anyshape::lower {

const Dim& random_key_symbol();
const Dim& random_counter_symbol();

}  // namespace anyshape::lower
