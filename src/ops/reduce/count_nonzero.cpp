// count_nonzero: x -> how many elements along axes are not zero, as i64.
#include "graph/named_call.h"
#include "ops/reduce/axes.h"
#include "ops/reduce/indicator.h"

#include <anyshape/ops.h>

namespace anyshape {

// Counted in i32 where that is known to do: half the work, and eagerly half the memory.
Tensor count_nonzero(const Tensor& x, ReduceOptions options) {
  const NamedCall call("count_nonzero", x);
  const Tensor is_set = cast(x, Dtype::b8);
  const bool is_small = adds_up_in_i32(is_set, reduce_attrs(is_set, options).axes);
  return is_small ? cast(sum(is_set, options), Dtype::i64) : sum(cast(is_set, Dtype::i64), options);
}

}  // namespace anyshape
