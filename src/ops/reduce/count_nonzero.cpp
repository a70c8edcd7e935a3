// count_nonzero: x -> how many elements along axes are not zero, as i32.
#include "graph/named_call.h"

#include <anyshape/ops.h>

namespace anyshape {

Tensor count_nonzero(const Tensor& x, ReduceOptions options) {
  const NamedCall call("count_nonzero", x);
  return sum(cast(x, Dtype::b8), options);
}

}  // namespace anyshape
