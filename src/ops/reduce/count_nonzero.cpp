// count_nonzero: x -> how many elements along axes are not zero, as i32.
#include "ops/reduce/axes.h"

#include <anyshape/ops.h>

namespace anyshape {

Tensor count_nonzero(const Tensor& x, ReduceOptions options) {
  require_axes("count_nonzero", x, reduce_attrs(x, options));
  return sum(cast(x, Dtype::b8), options);
}

}  // namespace anyshape
