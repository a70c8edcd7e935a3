// max: x -> the greatest element along axes; NaN where there is one. Of nothing: the lowest finite number of the dtype.
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

// Equal greatest elements share the gradient equally.
static std::vector<Tensor> gradient(const GradientCall& call) {
  const Tensor& x = call.inputs[0];
  const std::vector<int64_t>& axes = call.attrs.as<ReduceAttrs>().axes;
  const Shape kept = kept_shape(x.shape(), axes);
  const Tensor greatest = equal(x, reshape(call.outputs[0], kept));
  const Tensor count = sum(cast(greatest, x.dtype()), {.axes = axes, .keep_dims = true});
  return {where(greatest, reshape(call.dys[0], kept) / count, 0)};
}

static constexpr ReduceRule rule{.combine = loop::Combine::Maximum, .axes = reduce_fates};
constinit const OpDef max_op{.name = "max",
                             .kind = OpKind::Reduce,
                             .inputs = 1,
                             .dtype = dtype_rule::promoted_number,
                             .shape = reduce_shape,
                             .ragged = RaggedPolicy::PerRow,
                             .gradient = gradient,
                             .reduce = &rule,
                             .attrs = [] { return Attrs(ReduceAttrs{}); }};

// The reduction itself starts at -infinity, so that elements which are -infinity stay; only where there may be no element at all does the
// answer for nothing come in. Integers start at their lowest number already.
static Tensor with_answer_for_nothing(const Tensor& result, const Dim& count) {
  if (!is_floating(result.dtype()) || count.lower_bound() > 0) return result;
  const double lowest = result.dtype() == Dtype::f64 ? std::numeric_limits<double>::lowest() : std::numeric_limits<float>::lowest();
  return where(equal(size_tensor(count, Dtype::i64), 0), make_scalar(result.dtype(), lowest), result);
}

Tensor max(const Tensor& x, ReduceOptions options) {
  const ReduceAttrs attrs = reduce_attrs(x, options);
  if (attrs.axes.empty()) return cast(x, x.dtype() == Dtype::b8 ? Dtype::i32 : x.dtype());
  return with_answer_for_nothing(bind(max_op, {x}, attrs), reduced_count(x.shape(), attrs.axes));
}

}  // namespace anyshape
