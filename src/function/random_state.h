// The process's random state: one key, and a number for every top-level call.
#pragma once
#include "runtime/executable.h"

namespace anyshape::function_detail {

runtime::RandomState next_random_state();

}  // namespace anyshape::function_detail
