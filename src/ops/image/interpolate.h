// Values between the pixels along one axis of an image, as an op of its own: its gradient gathers what each pixel has given.
#pragma once
#include <anyshape/tensor.h>

namespace anyshape {

// x along an axis that has `size` elements then, at least one where there was none. Linear for floating dtypes only.
Tensor interpolate(const Tensor& x, int axis, const Dim& size, bool is_linear);

}  // namespace anyshape
