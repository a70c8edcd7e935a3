// Logic on b8, where anything that is not 0 counts as true, and questions about floats. No gradients.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/all_ops.h"

#include <anyshape/ops.h>

#include <limits>

namespace anyshape {
namespace {

Specs shape(OpCall& call) { return {{Dtype::b8, call.broadcast(), {}}}; }

template <loop::Op op>
constexpr OpDef logical(std::string_view name) {
  return {.name = name,
          .kind = OpKind::Elementwise,
          .inputs = 2,
          .dtype = dtype_rule::logical,
          .shape = shape,
          .ragged = RaggedPolicy::Values,
          .element = [](ElementCall& call) {
            const auto [a, b] = call.operands();
            return call.b.binary(op, a, b);
          }};
}

constexpr OpDef question(std::string_view name, DtypeRule dtype, ElementRule element) {
  return {.name = name,
          .kind = OpKind::Elementwise,
          .inputs = 1,
          .dtype = dtype,
          .shape = shape,
          .ragged = RaggedPolicy::Values,
          .element = element};
}

// What holds for a float; integers are finite numbers.
template <auto holds, bool of_integers>
loop::Value about_float(ElementCall& call) {
  const loop::Value x = call.operand(0);
  if (!is_floating(call.b.type(x))) return call.b.constant(Dtype::b8, int64_t{of_integers});
  return holds(call.b, x);
}

loop::Value infinity(loop::Builder& b, loop::Value x) { return b.constant(b.type(x), std::numeric_limits<double>::infinity()); }
loop::Value nan(loop::Builder& b, loop::Value x) { return b.binary(loop::Op::NotEqual, x, x); }
loop::Value infinite(loop::Builder& b, loop::Value x) { return b.equal(b.unary(loop::Op::Absolute, x), infinity(b, x)); }
loop::Value finite(loop::Builder& b, loop::Value x) { return b.less(b.unary(loop::Op::Absolute, x), infinity(b, x)); }

// The bit itself, so that -0 and NaN have one.
loop::Value sign_bit_of(ElementCall& call) {
  loop::Builder& b = call.b;
  const loop::Value x = call.operand(0);
  const Dtype type = b.type(x);
  if (type == Dtype::b8 || type == Dtype::u8) return b.constant(Dtype::b8, int64_t{0});
  const Dtype bits = type == Dtype::f32 ? Dtype::i32 : type == Dtype::f64 ? Dtype::i64 : type;
  return b.less(bits == type ? x : b.bitcast(x, bits), b.constant(bits, int64_t{0}));
}

}  // namespace

constinit const OpDef logical_and_op = logical<loop::Op::And>("logical_and");
constinit const OpDef logical_or_op = logical<loop::Op::Or>("logical_or");
constinit const OpDef logical_xor_op = logical<loop::Op::Xor>("logical_xor");
constinit const OpDef logical_not_op =
    question("logical_not", dtype_rule::logical, [](ElementCall& call) { return call.b.unary(loop::Op::Not, call.operand(0)); });
constinit const OpDef is_nan_op = question("is_nan", dtype_rule::any, about_float<nan, false>);
constinit const OpDef is_inf_op = question("is_inf", dtype_rule::any, about_float<infinite, false>);
constinit const OpDef is_finite_op = question("is_finite", dtype_rule::any, about_float<finite, true>);
constinit const OpDef sign_bit_op = question("sign_bit", dtype_rule::any, sign_bit_of);

Tensor logical_and(const Tensor& a, const Tensor& b) { return bind(logical_and_op, {a, b}); }
Tensor logical_or(const Tensor& a, const Tensor& b) { return bind(logical_or_op, {a, b}); }
Tensor logical_xor(const Tensor& a, const Tensor& b) { return bind(logical_xor_op, {a, b}); }
Tensor logical_not(const Tensor& x) { return bind(logical_not_op, {x}); }
Tensor is_nan(const Tensor& x) { return bind(is_nan_op, {x}); }
Tensor is_inf(const Tensor& x) { return bind(is_inf_op, {x}); }
Tensor is_finite(const Tensor& x) { return bind(is_finite_op, {x}); }
Tensor sign_bit(const Tensor& x) { return bind(sign_bit_op, {x}); }

}  // namespace anyshape
