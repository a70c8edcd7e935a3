// sum: x -> elements added along axes. b8 counts in i32; integers wrap; the sum of nothing is 0.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/ir.h"
#include "ops/all_ops.h"
#include "ops/reduce/axes.h"

#include <anyshape/ops.h>

namespace anyshape {

static std::vector<Tensor> gradient(const GradientCall& call) {
  const Shape shape = call.inputs[0].shape();
  return {broadcast_to(reshape(call.dys[0], kept_shape(shape, call.attrs.as<ReduceAttrs>().axes)), shape)};
}

static constexpr ReduceRule rule{.combine = loop::Combine::Sum, .axes = reduce_fates};
constinit const OpDef sum_op{.name = "sum",
                             .kind = OpKind::Reduce,
                             .inputs = 1,
                             .dtype = dtype_rule::promoted_number,
                             .shape = reduce_shape,
                             .ragged = RaggedPolicy::PerRow,
                             .gradient = gradient,
                             .reduce = &rule,
                             .attrs = [] { return Attrs(ReduceAttrs{}); }};

Tensor sum(const Tensor& x, ReduceOptions options) {
  ReduceAttrs attrs = reduce_attrs(x, options);
  if (attrs.axes.empty()) return cast(x, x.dtype() == Dtype::b8 ? Dtype::i32 : x.dtype());
  return bind(sum_op, {x}, std::move(attrs));
}

}  // namespace anyshape
