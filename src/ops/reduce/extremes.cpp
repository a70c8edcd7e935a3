// max, min: x -> the greatest or least element along axes; NaN where there is one. Of nothing: the finite number farthest to the other side.
#include "graph/dtype_rules.h"
#include "loop/ir.h"
#include "ops/all_ops.h"
#include "ops/reduce/axes.h"
#include "ops/source/size.h"
#include "tensor/view.h"

#include <anyshape/ops.h>

#include <limits>

namespace anyshape {
namespace {

// Equal extreme elements share the gradient equally.
std::vector<Tensor> gradient(const GradientCall& call) {
  const Tensor& x = call.inputs[0];
  const std::vector<int64_t>& axes = call.attrs.as<ReduceAttrs>().axes;
  const Shape kept = kept_shape(x.shape(), axes);
  const Tensor extreme = equal(x, reshape(call.outputs[0], kept));
  const Tensor count = sum(cast(extreme, x.dtype()), {.axes = axes, .keep_dims = true});
  return {where(extreme, reshape(call.dys[0], kept) / count, 0)};
}

constexpr ReduceRule max_rule{.combine = loop::Combine::Maximum, .axes = reduce_fates};
constexpr ReduceRule min_rule{.combine = loop::Combine::Minimum, .axes = reduce_fates};

// The reduction itself starts at an infinity, so that elements which are that infinity stay; only where there may be no element at all does
// the answer for nothing come in. Integers start at their last number already.
Tensor with_answer_for_nothing(const Tensor& result, const Dim& count, int sign) {
  if (!is_floating(result.dtype()) || count.lower_bound() > 0) return result;
  const double last = result.dtype() == Dtype::f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  return where(equal(size_tensor(count, Dtype::i64), 0), make_scalar(result.dtype(), sign * last), result);
}

Tensor extreme(const OpDef& op, const Tensor& x, const ReduceOptions& options, int sign_of_nothing) {
  const Tensor result = reduced(op, x, options);
  return with_answer_for_nothing(result, reduced_count(x.shape(), reduce_attrs(x, options).axes), sign_of_nothing);
}

}  // namespace

constinit const OpDef max_op = reduction("max", dtype_rule::promoted_number, max_rule, gradient);
constinit const OpDef min_op = reduction("min", dtype_rule::promoted_number, min_rule, gradient);

Tensor max(const Tensor& x, ReduceOptions options) { return extreme(max_op, x, options, -1); }
Tensor min(const Tensor& x, ReduceOptions options) { return extreme(min_op, x, options, 1); }

}  // namespace anyshape
