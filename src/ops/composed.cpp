// Ops made of other ops: their shapes, gradients and loops follow from the parts.
#include "graph/bind.h"
#include "graph/named_call.h"
#include "ops/all_ops.h"
#include "ops/numbers.h"
#include "ops/ragged/rules.h"
#include "ops/reduce/axes.h"

#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>

namespace anyshape {
namespace {

// x minus its greatest element along the axis, so that no exponential overflows. The shift cancels in the result and has no gradient.
// Where there are no elements nothing reads the maximum, so the plain reduction serves.
Tensor shifted(const Tensor& x, int64_t axis) {
  return x - stop_gradient(bind(max_op, {x}, reduce_attrs(x, {.axes = {axis}, .keep_dims = true})));
}

}  // namespace

// A NaN is not <= 0 and stays. At 0 the constant is taken, so the gradient there is 0.
Tensor relu(const Tensor& x) {
  const NamedCall call("relu", x);
  return where(x <= 0, 0, x);
}

Tensor mean(const Tensor& x, ReduceOptions options) {
  const NamedCall call("mean", x);
  const Tensor numbers = computable(x);
  const Tensor total = sum(numbers, options);
  return result_for(x, total / reduced_size(x, reduce_attrs(x, options).axes, options.keep_dims, numbers.dtype()));
}

Tensor softmax(const Tensor& x) { return softmax(x, {}); }
Tensor softmax(const Tensor& x, AxisOptions options) {
  const NamedCall call("softmax", x);
  if (is_ragged_axis(x, options.axis)) return on_values(x, [&](const Tensor& values) { return segment::softmax(values, x.row_splits()); });
  const Tensor powers = exp(shifted(computable(x), options.axis));
  // One division for each row; its rounding is one more, of half a unit in the last place.
  return result_for(x, powers * (1 / sum(powers, {.axes = {options.axis}, .keep_dims = true})));
}

Tensor log_softmax(const Tensor& x) { return log_softmax(x, {}); }
Tensor log_softmax(const Tensor& x, AxisOptions options) {
  const NamedCall call("log_softmax", x);
  if (is_ragged_axis(x, options.axis))
    return on_values(x, [&](const Tensor& values) { return segment::log_softmax(values, x.row_splits()); });
  const Tensor shift = shifted(computable(x), options.axis);
  return result_for(x, shift - log(sum(exp(shift), {.axes = {options.axis}, .keep_dims = true})));
}

}  // namespace anyshape
