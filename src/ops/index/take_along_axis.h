// The gradient of take_along_axis, which sorting shares: dy added up in zeros of `shape`, where the indices point to.
#pragma once
#include <anyshape/tensor.h>

namespace anyshape {

Tensor take_along_axis_gradient(const Tensor& dy, const Tensor& indices, int64_t axis, const Shape& shape);

}  // namespace anyshape
