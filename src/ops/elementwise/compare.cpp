// Comparisons of two tensors that broadcast: b8, without gradient. The two others are these with their operands swapped.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "loop/element.h"
#include "ops/all_ops.h"

#include <anyshape/ops.h>

namespace anyshape {
namespace {

Specs shape(OpCall& call) { return {{Dtype::b8, call.broadcast(), {}}}; }

template <loop::Op scalar>
constexpr OpDef comparison(std::string_view name) {
  return {.name = name,
          .kind = OpKind::Elementwise,
          .inputs = 2,
          .dtype = dtype_rule::promoted,
          .shape = shape,
          .ragged = RaggedPolicy::Values,
          .element = [](ElementCall& call) {
            const auto [a, b] = call.operands();
            return call.b.binary(scalar, a, b);
          }};
}

}  // namespace

constinit const OpDef equal_op = comparison<loop::Op::Equal>("equal");
constinit const OpDef not_equal_op = comparison<loop::Op::NotEqual>("not_equal");
constinit const OpDef less_op = comparison<loop::Op::Less>("less");
constinit const OpDef less_equal_op = comparison<loop::Op::LessEqual>("less_equal");

Tensor equal(const Tensor& a, const Tensor& b) { return bind(equal_op, {a, b}); }
Tensor not_equal(const Tensor& a, const Tensor& b) { return bind(not_equal_op, {a, b}); }
Tensor less(const Tensor& a, const Tensor& b) { return bind(less_op, {a, b}); }
Tensor less_equal(const Tensor& a, const Tensor& b) { return bind(less_equal_op, {a, b}); }
Tensor greater(const Tensor& a, const Tensor& b) {
  const NamedCall call("greater", a, b);
  return bind(less_op, {b, a});
}
Tensor greater_equal(const Tensor& a, const Tensor& b) {
  const NamedCall call("greater_equal", a, b);
  return bind(less_equal_op, {b, a});
}

}  // namespace anyshape
