// any, all: x -> whether some or every element along axes is not zero, as b8. Of nothing: any is false, all is true.
#include "graph/dtype_rules.h"
#include "loop/ir.h"
#include "ops/all_ops.h"
#include "ops/reduce/axes.h"

#include <anyshape/ops.h>

namespace anyshape {
namespace {

constexpr ReduceRule any_rule{.combine = loop::Combine::Any, .axes = reduce_fates};
constexpr ReduceRule all_rule{.combine = loop::Combine::All, .axes = reduce_fates};

}  // namespace

constinit const OpDef any_op = reduction("any", dtype_rule::logical, any_rule);
constinit const OpDef all_op = reduction("all", dtype_rule::logical, all_rule);

Tensor any(const Tensor& x, ReduceOptions options) { return reduced(any_op, x, options); }
Tensor all(const Tensor& x, ReduceOptions options) { return reduced(all_op, x, options); }

}  // namespace anyshape
