// where: condition, a, b -> a where the condition holds, b elsewhere; all three broadcast.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/all_ops.h"

#include <anyshape/ops.h>

namespace anyshape {

static Specs shape(OpCall& call) { return {{call.inputs[1].dtype, call.broadcast(), {}}}; }

static std::vector<Tensor> gradient(const GradientCall& call) {
  const Tensor& condition = call.inputs[0];
  const Tensor& dy = call.dys[0];
  std::vector<Tensor> result(3);
  if (call.needed[1]) result[1] = sum_to(where(condition, dy, 0), call.inputs[1].shape());
  if (call.needed[2]) result[2] = sum_to(where(condition, 0, dy), call.inputs[2].shape());
  return result;
}

constinit const OpDef where_op{.name = "where",
                               .kind = OpKind::Elementwise,
                               .inputs = 3,
                               .dtype = dtype_rule::condition_first,
                               .shape = shape,
                               .ragged = RaggedPolicy::Values,
                               .gradient = gradient,
                               .element = [](ElementCall& call) {
                                 const loop::Value condition = call.operand(0), x = call.operand(1), y = call.operand(2);
                                 return call.b.select(condition, x, y);
                               }};

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) { return bind(where_op, {condition, a, b}); }

}  // namespace anyshape
