// sum: x -> elements added along axes. b8 counts in i32, as long as that can hold it; integers wrap; the sum of nothing is 0.
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "loop/ir.h"
#include "ops/all_ops.h"
#include "ops/ragged/rules.h"
#include "ops/reduce/axes.h"
#include "ops/reduce/indicator.h"

#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>

namespace anyshape {

static std::vector<Tensor> gradient(const GradientCall& call) {
  const Shape shape = call.inputs[0].shape();
  return {broadcast_to(reshape(call.dys[0], kept_shape(shape, call.attrs.as<ReduceAttrs>().axes)), shape)};
}

static std::vector<Tensor> ragged(const RaggedCall& call) {
  return reduce_ragged(call, {segment::sum, [](Dtype) { return Tensor(0); }});
}

static constexpr ReduceRule rule{.combine = loop::Combine::Sum, .axes = reduce_fates};
constinit const OpDef sum_op = reduction("sum", dtype_rule::promoted_number, rule, ragged, gradient,
                                         {.never_negative_zero = NeverNegativeZero::Always});  // begins with 0, and 0 + -0 is 0

Tensor sum(const Tensor& x, ReduceOptions options) {
  if (!x.defined() || x.dtype() != Dtype::b8) return reduced(sum_op, x, options);
  const NamedCall call("sum", x);
  return reduced(sum_op, addable(x, reduce_attrs(x, options).axes), options);
}

}  // namespace anyshape
