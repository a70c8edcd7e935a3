// Elementwise ops of one tensor: one line per op with its name, dtype rule, scalar lowering, and derivative from g.x, g.y and g.dy.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "loop/math.h"
#include "ops/all_ops.h"
#include "ops/stop_gradient.h"

#include <anyshape/ops.h>

namespace anyshape {
namespace {

struct UnaryGradient {
  const Tensor& x;
  const Tensor& y;
  const Tensor& dy;
};

Specs shape(OpCall& call) { return {call.inputs[0]}; }

template <auto scalar, auto derivative>
constexpr OpDef unary(std::string_view name, DtypeRule dtype) {
  return {.name = name,
          .kind = OpKind::Elementwise,
          .inputs = 1,
          .dtype = dtype,
          .shape = shape,
          .ragged = RaggedPolicy::Values,
          .gradient =
              [](const GradientCall& call) {
                return std::vector<Tensor>{derivative(UnaryGradient{call.inputs[0], call.outputs[0], call.dys[0]})};
              },
          .element = [](ElementCall& call) { return scalar(call.b, call.operand(0)); }};
}

loop::Value negate(loop::Builder& b, loop::Value x) { return b.unary(loop::Op::Negate, x); }
loop::Value same(loop::Builder&, loop::Value x) { return x; }

Tensor derivative_of_negative(const UnaryGradient& g) { return -g.dy; }
Tensor derivative_of_exp(const UnaryGradient& g) { return g.dy * g.y; }
Tensor derivative_of_log(const UnaryGradient& g) { return g.dy / g.x; }
Tensor derivative_of_tanh(const UnaryGradient& g) { return g.dy * (1.0 - g.y * g.y); }
Tensor no_derivative(const UnaryGradient&) { return {}; }

}  // namespace

constinit const OpDef negative_op = unary<negate, derivative_of_negative>("negative", dtype_rule::promoted_number);
constinit const OpDef exp_op = unary<loop::exp, derivative_of_exp>("exp", dtype_rule::floating);
constinit const OpDef log_op = unary<loop::log, derivative_of_log>("log", dtype_rule::floating);
constinit const OpDef tanh_op = unary<loop::tanh, derivative_of_tanh>("tanh", dtype_rule::floating);
constinit const OpDef stop_gradient_op = unary<same, no_derivative>("stop_gradient", dtype_rule::any);

Tensor negative(const Tensor& x) { return bind(negative_op, {x}); }
Tensor exp(const Tensor& x) { return bind(exp_op, {x}); }
Tensor log(const Tensor& x) { return bind(log_op, {x}); }
Tensor tanh(const Tensor& x) { return bind(tanh_op, {x}); }
Tensor stop_gradient(const Tensor& x) { return bind(stop_gradient_op, {x}); }

}  // namespace anyshape
