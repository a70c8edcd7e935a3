// A new handle, in memory that an earlier one has left.
#pragma once
#include "tensor/tensor_impl.h"

#include <memory>

namespace anyshape {

std::shared_ptr<TensorImpl> make_impl();

}  // namespace anyshape
