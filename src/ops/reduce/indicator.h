// Truth values as numbers to be added up.
#pragma once
#include <anyshape/tensor.h>

#include <span>

namespace anyshape {

// Whether an i32 is known to hold the sum of truth values along these axes.
bool adds_up_in_i32(const Tensor& x, std::span<const int64_t> axes);

// Numbers as they are; b8 as 0 and 1 in i32, with a ShapeError where more are added up along these axes than an i32 can hold. Axes outside the
// rank stay for the op's own rule to refuse.
Tensor addable(const Tensor& x, std::span<const int64_t> axes);

}  // namespace anyshape
