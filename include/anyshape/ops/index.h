// Ops whose places to read or write are data. The same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/tensor.h>

namespace [[gnu::visibility("default")]] anyshape {

// Index: rows of x along an axis; negative indices count from the end, others outside are a DataError.
struct TakeOptions {
  int64_t axis = 0;
};
Tensor take(const Tensor& x, const Tensor& indices, TakeOptions options = {});

}  // namespace anyshape
