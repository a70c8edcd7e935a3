// Integers bit by bit, and shifts. No gradients.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/layer_path.h"
#include "graph/named_call.h"
#include "loop/element.h"

#include <anyshape/error.h>
#include <anyshape/ops/bitwise.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

void integers(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  dtype_rule::promoted(op, inputs, wanted);
  if (!is_floating(wanted[0])) return;
  throw DtypeError(fmt::format("{}: {} has no bits to work on; expected integers or b8. Cast with as::cast(x, as::i32).{}", op,
                               to_string(wanted[0]), current_place()));
}

void counted_integers(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  integers(op, inputs, wanted);
  if (wanted[0] == Dtype::b8) std::ranges::fill(wanted, Dtype::i32);
}

Specs shape(OpCall& call) { return {{call.inputs[0].dtype, call.broadcast(), {}}}; }

template <loop::Op op>
constexpr OpDef bits(std::string_view name, DtypeRule dtype) {
  return {.name = name,
          .kind = OpKind::Elementwise,
          .inputs = 2,
          .dtype = dtype,
          .shape = shape,
          .ragged = RaggedPolicy::Values,
          .element = [](ElementCall& call) {
            const auto [a, b] = call.operands();
            return call.b.binary(op, a, b);
          }};
}

}  // namespace

extern constinit const OpDef bitwise_and_op = bits<loop::Op::And>("bitwise_and", integers);
extern constinit const OpDef bitwise_or_op = bits<loop::Op::Or>("bitwise_or", integers);
extern constinit const OpDef bitwise_xor_op = bits<loop::Op::Xor>("bitwise_xor", integers);
extern constinit const OpDef left_shift_op = bits<loop::Op::ShiftLeft>("left_shift", counted_integers);
extern constinit const OpDef right_shift_op = bits<loop::Op::ShiftRight>("right_shift", counted_integers);
extern constinit const OpDef bitwise_not_op{.name = "bitwise_not",
                                            .kind = OpKind::Elementwise,
                                            .inputs = 1,
                                            .dtype = integers,
                                            .shape = shape,
                                            .ragged = RaggedPolicy::Values,
                                            .element = [](ElementCall& call) { return call.b.unary(loop::Op::Not, call.operand(0)); }};

Tensor bitwise_and(const Tensor& a, const Tensor& b) { return bind(bitwise_and_op, {a, b}); }
Tensor bitwise_or(const Tensor& a, const Tensor& b) { return bind(bitwise_or_op, {a, b}); }
Tensor bitwise_xor(const Tensor& a, const Tensor& b) { return bind(bitwise_xor_op, {a, b}); }
Tensor bitwise_not(const Tensor& x) { return bind(bitwise_not_op, {x}); }
Tensor left_shift(const Tensor& x, const Tensor& count) { return bind(left_shift_op, {x, count}); }
Tensor right_shift(const Tensor& x, const Tensor& count) { return bind(right_shift_op, {x, count}); }

}  // namespace anyshape
