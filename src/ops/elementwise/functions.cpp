// The functions of analysis: exponentials, logarithms, trigonometry. One line per op; the scalars stand in loop/math.h with their errors.
#include "ops/elementwise/unary.h"

namespace anyshape {
namespace {

using unary_op::define;
using unary_op::Gradient;

Tensor derivative_of_exp(const Gradient& g) { return g.dy * g.y; }
Tensor derivative_of_expm1(const Gradient& g) { return g.dy * (g.y + 1); }
Tensor derivative_of_log(const Gradient& g) { return g.dy / g.x; }
Tensor derivative_of_log1p(const Gradient& g) { return g.dy / (g.x + 1); }
Tensor derivative_of_sin(const Gradient& g) { return g.dy * cos(g.x); }
Tensor derivative_of_cos(const Gradient& g) { return -g.dy * sin(g.x); }
Tensor derivative_of_tan(const Gradient& g) { return g.dy * (1 + g.y * g.y); }
Tensor derivative_of_sinh(const Gradient& g) { return g.dy * cosh(g.x); }
Tensor derivative_of_cosh(const Gradient& g) { return g.dy * sinh(g.x); }
Tensor derivative_of_tanh(const Gradient& g) { return g.dy * (1 - g.y * g.y); }
Tensor derivative_of_asin(const Gradient& g) { return g.dy * rsqrt((1 - g.x) * (1 + g.x)); }
Tensor derivative_of_acos(const Gradient& g) { return -g.dy * rsqrt((1 - g.x) * (1 + g.x)); }
Tensor derivative_of_atan(const Gradient& g) { return g.dy / (1 + g.x * g.x); }
Tensor derivative_of_erf(const Gradient& g) { return g.dy * (1.1283791670955126 * exp(-(g.x * g.x))); }  // 2 / sqrt(pi)
Tensor derivative_of_sigmoid(const Gradient& g) { return g.dy * (g.y * (1 - g.y)); }
Tensor derivative_of_softplus(const Gradient& g) { return g.dy * sigmoid(g.x); }

// Softmax takes exponentials of nothing above 0: fewer instructions, the same bits.
constexpr OpDef with_short_form(OpDef exp) {
  exp.element = [](ElementCall& call) {
    const loop::Value x = call.operand(0);
    return call.is_at_most_zero(0) ? loop::exp_at_most_zero(call.b, x) : loop::exp(call.b, x);
  };
  return exp;
}

}  // namespace

constinit const OpDef exp_op = with_short_form(define<loop::exp, derivative_of_exp>(
    "exp", dtype_rule::floating, {.is_long_function = true, .never_negative_zero = NeverNegativeZero::Always}));
constinit const OpDef expm1_op = define<loop::expm1, derivative_of_expm1>("expm1", dtype_rule::floating, {.is_long_function = true});
constinit const OpDef log_op = define<loop::log, derivative_of_log>("log", dtype_rule::floating);
constinit const OpDef log1p_op = define<loop::log1p, derivative_of_log1p>("log1p", dtype_rule::floating);
constinit const OpDef sin_op = define<loop::sin, derivative_of_sin>("sin", dtype_rule::floating);
constinit const OpDef cos_op = define<loop::cos, derivative_of_cos>("cos", dtype_rule::floating);
constinit const OpDef tan_op = define<loop::tan, derivative_of_tan>("tan", dtype_rule::floating, {.is_long_function = true});
constinit const OpDef sinh_op = define<loop::sinh, derivative_of_sinh>("sinh", dtype_rule::floating);
constinit const OpDef cosh_op = define<loop::cosh, derivative_of_cosh>("cosh", dtype_rule::floating);
constinit const OpDef tanh_op = define<loop::tanh, derivative_of_tanh>("tanh", dtype_rule::floating, {.is_long_function = true});
constinit const OpDef asin_op = define<loop::asin, derivative_of_asin>("asin", dtype_rule::floating);
constinit const OpDef acos_op = define<loop::acos, derivative_of_acos>("acos", dtype_rule::floating);
constinit const OpDef atan_op = define<loop::atan, derivative_of_atan>("atan", dtype_rule::floating);
constinit const OpDef erf_op = define<loop::erf, derivative_of_erf>("erf", dtype_rule::floating);
constinit const OpDef sigmoid_op = define<loop::sigmoid, derivative_of_sigmoid>(
    "sigmoid", dtype_rule::floating, {.is_long_function = true, .never_negative_zero = NeverNegativeZero::Always});
constinit const OpDef softplus_op = define<loop::softplus, derivative_of_softplus>("softplus", dtype_rule::floating);

Tensor exp(const Tensor& x) { return bind(exp_op, {x}); }
Tensor expm1(const Tensor& x) { return bind(expm1_op, {x}); }
Tensor log(const Tensor& x) { return bind(log_op, {x}); }
Tensor log1p(const Tensor& x) { return bind(log1p_op, {x}); }
Tensor sin(const Tensor& x) { return bind(sin_op, {x}); }
Tensor cos(const Tensor& x) { return bind(cos_op, {x}); }
Tensor tan(const Tensor& x) { return bind(tan_op, {x}); }
Tensor sinh(const Tensor& x) { return bind(sinh_op, {x}); }
Tensor cosh(const Tensor& x) { return bind(cosh_op, {x}); }
Tensor tanh(const Tensor& x) { return bind(tanh_op, {x}); }
Tensor asin(const Tensor& x) { return bind(asin_op, {x}); }
Tensor acos(const Tensor& x) { return bind(acos_op, {x}); }
Tensor atan(const Tensor& x) { return bind(atan_op, {x}); }
Tensor erf(const Tensor& x) { return bind(erf_op, {x}); }
Tensor sigmoid(const Tensor& x) { return bind(sigmoid_op, {x}); }
Tensor softplus(const Tensor& x) { return bind(softplus_op, {x}); }

}  // namespace anyshape
