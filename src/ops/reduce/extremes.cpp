// max, min: x -> the greatest or least element along axes; NaN where there is one. Of nothing: the finite number farthest to the other side.
#include "graph/dtype_rules.h"
#include "loop/ir.h"
#include "ops/all_ops.h"
#include "ops/ragged/rules.h"
#include "ops/reduce/axes.h"
#include "tensor/view.h"

#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>

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

// What loses against every element.
template <int sign>
Tensor last_number(Dtype dtype) {
  if (is_floating(dtype)) return make_scalar(dtype, sign * std::numeric_limits<double>::infinity());
  if (dtype == Dtype::u8 || dtype == Dtype::b8) return make_scalar(dtype, int64_t{sign < 0 ? 0 : dtype == Dtype::u8 ? 255 : 1});
  const int64_t most = dtype == Dtype::i32 ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max();
  return make_scalar(dtype, sign < 0 ? -most - 1 : most);
}

std::vector<Tensor> max_ragged(const RaggedCall& call) { return reduce_ragged(call, {segment::max, last_number<-1>}); }
std::vector<Tensor> min_ragged(const RaggedCall& call) { return reduce_ragged(call, {segment::min, last_number<1>}); }

// The reduction itself starts at an infinity, so that elements which are that infinity stay; only where there may be no element at all does
// the answer for nothing come in. Integers start at their last number already.
Tensor with_answer_for_nothing(const Tensor& result, const Tensor& x, const ReduceAttrs& attrs, int sign) {
  if (!is_floating(result.dtype())) return result;
  if (!x.is_ragged() && reduced_count(x.shape(), attrs.axes).lower_bound() > 0) return result;
  const double last = result.dtype() == Dtype::f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  return where(equal(reduced_size(x, attrs.axes, attrs.keep_dims, Dtype::i64), 0), make_scalar(result.dtype(), sign * last), result);
}

Tensor extreme(const OpDef& op, const Tensor& x, const ReduceOptions& options, int sign_of_nothing) {
  const Tensor result = reduced(op, x, options);
  return with_answer_for_nothing(result, x, reduce_attrs(x, options), sign_of_nothing);
}

}  // namespace

constinit const OpDef max_op = reduction("max", dtype_rule::promoted_number, max_rule, max_ragged, gradient);
constinit const OpDef min_op = reduction("min", dtype_rule::promoted_number, min_rule, min_ragged, gradient);

Tensor max(const Tensor& x, ReduceOptions options) { return extreme(max_op, x, options, -1); }
Tensor min(const Tensor& x, ReduceOptions options) { return extreme(min_op, x, options, 1); }

}  // namespace anyshape
