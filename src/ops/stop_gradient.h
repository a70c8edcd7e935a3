// x itself, through which no gradient flows: for shifts that do not change a result.
#pragma once
#include <anyshape/tensor.h>

namespace anyshape {

Tensor stop_gradient(const Tensor& x);

}  // namespace anyshape
