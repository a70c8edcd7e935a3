// Part of a trace like any other op, so that a bad number is found at the call that has it.
#include "nn/whole_numbers.h"

#include <anyshape/ops.h>

namespace anyshape::nn {

Tensor as_indices(const Tensor& x) {
  if (x.dtype() == Dtype::i32 || x.dtype() == Dtype::i64) return x;
  if (!is_floating(x.dtype())) return cast(x, Dtype::i32);
  const Tensor is_whole = logical_and(floor(x) == x, abs(x) < 2147483648.0);
  return where(is_whole, cast(x, Dtype::i32), no_index);
}

}  // namespace anyshape::nn
