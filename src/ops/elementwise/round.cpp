// Rounding to integers, which keeps the dtype and has gradient zero. Integers are round already.
#include "ops/elementwise/unary.h"

namespace anyshape {
namespace {

template <loop::Op op>
loop::Value rounded(loop::Builder& b, loop::Value x) {
  return is_floating(b.type(x)) ? b.unary(op, x) : x;
}

template <loop::Op op>
constexpr OpDef rounding(std::string_view name) {
  return unary_op::define<rounded<op>, unary_op::zero>(name, dtype_rule::promoted_number, {.is_flat = true});
}

}  // namespace

constinit const OpDef floor_op = rounding<loop::Op::Floor>("floor");
constinit const OpDef ceil_op = rounding<loop::Op::Ceil>("ceil");
constinit const OpDef trunc_op = rounding<loop::Op::Truncate>("trunc");
constinit const OpDef round_op = rounding<loop::Op::Round>("round");

Tensor floor(const Tensor& x) { return bind(floor_op, {x}); }
Tensor ceil(const Tensor& x) { return bind(ceil_op, {x}); }
Tensor trunc(const Tensor& x) { return bind(trunc_op, {x}); }
Tensor round(const Tensor& x) { return bind(round_op, {x}); }

}  // namespace anyshape
