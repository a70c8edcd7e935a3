// var, std, norm: reductions made of others. Elementwise parts fuse into the sums that follow them.
#include "graph/named_call.h"
#include "ops/numbers.h"
#include "ops/ragged/rules.h"
#include "ops/reduce/axes.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <cmath>

namespace anyshape {
namespace {

// The root of a sum of squares. Its slope at 0 is taken as 0: there every summand is 0 and so is what it would be multiplied with.
Tensor root(const Tensor& squares) {
  const Tensor is_zero = equal(squares, 0);
  return where(is_zero, 0, sqrt(where(is_zero, 1, squares)));
}

// Distances from the mean, squared: two passes, because the difference of two large sums would have no digits left.
Tensor variance(std::string_view op, const Tensor& x, const VarianceOptions& options) {
  const NamedCall call(op, x);
  const Axes axes = axes_of(x, options);
  const Tensor numbers = computable(x);
  const Tensor distance = numbers - mean(numbers, {.axes = axes, .keep_dims = true});
  const Tensor total = sum(distance * distance, {.axes = axes, .keep_dims = options.keep_dims});
  const Tensor count = reduced_size(x, reduce_attrs(x, {.axes = axes}).axes, options.keep_dims, numbers.dtype());
  return total / (options.correction == 0 ? count : maximum(count - options.correction, 0));
}

}  // namespace

Tensor var(const Tensor& x, VarianceOptions options) { return result_for(x, variance("var", x, options)); }
Tensor std(const Tensor& x, VarianceOptions options) {
  const NamedCall call("std", x);
  return result_for(x, root(variance("std", x, options)));
}

Tensor norm(const Tensor& x, NormOptions options) {
  const NamedCall call("norm", x);
  const Tensor numbers = computable(x);
  const ReduceOptions reduce{.axes = axes_of(x, options), .keep_dims = options.keep_dims};
  if (options.order == 1) return result_for(x, sum(abs(numbers), reduce));
  if (options.order == 2) return result_for(x, root(sum(numbers * numbers, reduce)));
  if (std::isinf(options.order) && options.order > 0) return result_for(x, maximum(max(abs(numbers), reduce), 0));  // of nothing: 0
  call.fail_argument(fmt::format("unknown order {}", options.order), "1, 2 or infinity");
}

}  // namespace anyshape
