// logsumexp: the logarithm of a sum of exponentials, shifted by the greatest element so that none overflows.
#include "graph/bind.h"
#include "graph/named_call.h"
#include "ops/all_ops.h"
#include "ops/numbers.h"
#include "ops/reduce/axes.h"

#include <anyshape/ops.h>

namespace anyshape {

Tensor logsumexp(const Tensor& x) { return logsumexp(x, {}); }

// The shift cancels in the result, so it has no gradient. An infinite greatest element, or that of nothing, would leave
// infinity - infinity: such a row is not shifted, and its sum is 0 or infinite by itself.
Tensor logsumexp(const Tensor& x, ReduceOptions options) {
  const NamedCall call("logsumexp", x);
  const Tensor numbers = computable(x);
  const ReduceAttrs attrs = reduce_attrs(numbers, {.axes = axes_of(numbers, options), .keep_dims = true});
  const Tensor greatest = bind(max_op, {numbers}, attrs);
  const Tensor shift = stop_gradient(where(is_finite(greatest), greatest, 0));
  const Tensor total = log(sum(exp(numbers - shift), options));
  return result_for(x, total + (options.keep_dims ? shift : reshape(shift, total.shape())));
}

}  // namespace anyshape
