// any, all: x -> whether some or every element along axes is not zero, as b8. Of nothing: any is false, all is true.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/ir.h"
#include "ops/all_ops.h"
#include "ops/reduce/axes.h"

#include <anyshape/ops.h>

namespace anyshape {
namespace {

constexpr ReduceRule any_rule{.combine = loop::Combine::Any, .axes = reduce_fates};
constexpr ReduceRule all_rule{.combine = loop::Combine::All, .axes = reduce_fates};

constexpr OpDef truth_op(std::string_view name, const ReduceRule& rule) {
  return {.name = name,
          .kind = OpKind::Reduce,
          .inputs = 1,
          .dtype = dtype_rule::logical,
          .shape = reduce_shape,
          .ragged = RaggedPolicy::PerRow,
          .reduce = &rule,
          .attrs = [] { return Attrs(ReduceAttrs{}); }};
}

Tensor truth(const OpDef& op, const Tensor& x, const ReduceOptions& options) {
  ReduceAttrs attrs = reduce_attrs(x, options);
  if (attrs.axes.empty()) return cast(x, Dtype::b8);
  return bind(op, {x}, std::move(attrs));
}

}  // namespace

constinit const OpDef any_op = truth_op("any", any_rule);
constinit const OpDef all_op = truth_op("all", all_rule);

Tensor any(const Tensor& x, ReduceOptions options) { return truth(any_op, x, options); }
Tensor all(const Tensor& x, ReduceOptions options) { return truth(all_op, x, options); }

}  // namespace anyshape
