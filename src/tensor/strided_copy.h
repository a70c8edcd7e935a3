// Copies a strided view into row-major order.
#pragma once
#include "tensor/tensor_impl.h"

namespace anyshape {

// `destination` has room for count() elements and does not overlap the source.
void copy_row_major(const TensorImpl& source, void* destination);

}  // namespace anyshape
