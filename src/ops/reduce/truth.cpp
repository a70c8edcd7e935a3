// any, all: x -> whether some or every element along axes is not zero, as b8. Of nothing: any is false, all is true.
#include "graph/dtype_rules.h"
#include "loop/ir.h"
#include "ops/all_ops.h"
#include "ops/ragged/rules.h"
#include "ops/reduce/axes.h"

#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>

namespace anyshape {
namespace {

constexpr ReduceRule any_rule{.combine = loop::Combine::Any, .axes = reduce_fates};
constexpr ReduceRule all_rule{.combine = loop::Combine::All, .axes = reduce_fates};

std::vector<Tensor> any_ragged(const RaggedCall& call) {
  return reduce_ragged(call, {segment::any, [](Dtype) { return Tensor(0); }});
}
std::vector<Tensor> all_ragged(const RaggedCall& call) {
  return reduce_ragged(call, {segment::all, [](Dtype) { return Tensor(1); }});
}

}  // namespace

constinit const OpDef any_op = reduction("any", dtype_rule::logical, any_rule, any_ragged);
constinit const OpDef all_op = reduction("all", dtype_rule::logical, all_rule, all_ragged);

Tensor any(const Tensor& x, ReduceOptions options) { return reduced(any_op, x, options); }
Tensor all(const Tensor& x, ReduceOptions options) { return reduced(all_op, x, options); }

}  // namespace anyshape
