// A size as a tensor: how a number that sizes make enters arithmetic.
#pragma once
#include <anyshape/dim.h>
#include <anyshape/tensor.h>

namespace anyshape {

Tensor size_tensor(const Dim& dim, Dtype dtype);  // rank 0

}  // namespace anyshape
