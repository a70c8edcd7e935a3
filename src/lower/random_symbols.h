// The two hidden sizes every program with random ops is given at each call: the process's key and the call's number.
#pragma once
#include <anyshape/dim.h>

namespace anyshape::lower {

const Dim& random_key_symbol();
const Dim& call_id_symbol();

}  // namespace anyshape::lower
