// Class numbers and ids that come as floating numbers: 3.0 is 3, and 2.5 is none.
#pragma once
#include <anyshape/tensor.h>

#include <cstdint>
#include <limits>

namespace anyshape::nn {

// What stands for a number that is not whole, or that i32 does not hold: no op takes it for an index.
inline constexpr int32_t no_index = std::numeric_limits<int32_t>::min();

Tensor as_indices(const Tensor& x);  // i32 and i64 as they are, others as i32

}  // namespace anyshape::nn
