// Random matrices with orthonormal columns, or rows where there are fewer of them.
#pragma once
#include <anyshape/tensor.h>

namespace anyshape::nn {

Tensor orthogonal_matrix(const Shape& shape, Dtype dtype, double gain);

}  // namespace anyshape::nn
