// max, min: x -> the greatest or least element along axes; NaN where there is one. Of nothing: the finite number farthest to the other side.
#include "graph/bind.h"
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

constexpr OpDef extreme_op(std::string_view name, const ReduceRule& rule) {
  return {.name = name,
          .kind = OpKind::Reduce,
          .inputs = 1,
          .dtype = dtype_rule::promoted_number,
          .shape = reduce_shape,
          .ragged = RaggedPolicy::PerRow,
          .gradient = gradient,
          .reduce = &rule,
          .attrs = [] { return Attrs(ReduceAttrs{}); }};
}

// The reduction itself starts at an infinity, so that elements which are that infinity stay; only where there may be no element at all does
// the answer for nothing come in. Integers start at their last number already.
Tensor with_answer_for_nothing(const Tensor& result, const Dim& count, int sign) {
  if (!is_floating(result.dtype()) || count.lower_bound() > 0) return result;
  const double last = result.dtype() == Dtype::f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  return where(equal(size_tensor(count, Dtype::i64), 0), make_scalar(result.dtype(), sign * last), result);
}

Tensor extreme(const OpDef& op, const Tensor& x, const ReduceOptions& options, int sign_of_nothing) {
  const ReduceAttrs attrs = reduce_attrs(x, options);
  if (attrs.axes.empty()) return cast(x, x.dtype() == Dtype::b8 ? Dtype::i32 : x.dtype());
  const Tensor result = bind(op, {x}, attrs);
  return with_answer_for_nothing(result, reduced_count(x.shape(), attrs.axes), sign_of_nothing);
}

}  // namespace

constinit const OpDef max_op = extreme_op("max", max_rule);
constinit const OpDef min_op = extreme_op("min", min_rule);

Tensor max(const Tensor& x, ReduceOptions options) { return extreme(max_op, x, options, -1); }
Tensor min(const Tensor& x, ReduceOptions options) { return extreme(min_op, x, options, 1); }

}  // namespace anyshape
