// ONNX's ops on the bits of whole numbers.
#include "onnx/ops/narrow.h"
#include "onnx/rule.h"

#include <anyshape/ops.h>
#include <anyshape/ops/bitwise.h>

#include <limits>

namespace anyshape::onnx {
namespace {

constexpr RuleOptions elementwise{.is_elementwise = true};

template <Tensor (*op)(const Tensor&, const Tensor&)>
Results bits(NodeCall& call) {
  return wrapped(op(call.tensor(0), call.tensor(1)), call.type(0));
}
Results not_rule(NodeCall& call) { return wrapped(bitwise_not(call.tensor(0)), call.type(0)); }

Results shift_rule(NodeCall& call) {
  const Tensor x = call.tensor(0), count = call.tensor(1);
  const std::string direction = call.text("direction", "");
  if (direction == "LEFT") return wrapped(left_shift(x, count), call.type(0));
  if (direction != "RIGHT") call.fail("direction is \"" + direction + "\"", "LEFT or RIGHT");
  if (call.type(0) != ElementType::Uint64) return wrapped(right_shift(x, count), call.type(0));
  // What comes in are zeros, also where the highest bit, which is i64's sign, is set.
  const Tensor kept = right_shift(full({}, std::numeric_limits<int64_t>::max(), {.dtype = i64}), count - 1);
  return Value(where(count == 0, x, bitwise_and(right_shift(x, count), kept)), call.type(0));
}

int64_t width_of(ElementType type) {
  switch (type) {
    case ElementType::Int2:
    case ElementType::Uint2: return 2;
    case ElementType::Int4:
    case ElementType::Uint4: return 4;
    case ElementType::Bool:
    case ElementType::Int8:
    case ElementType::Uint8: return 8;
    case ElementType::Int16:
    case ElementType::Uint16: return 16;
    case ElementType::Uint32: return 32;
    default: return dtype_for(type) ? 8 * size_of(*dtype_for(type)) : 0;
  }
}

// By way of the whole number that has the same bits.
Results bitcast_rule(NodeCall& call) {
  const ElementType from = call.type(0), to = call.type("to", ElementType::Undefined);
  const Dtype dtype = call.dtype_of(to);
  Tensor x = call.tensor(0);
  if (width_of(from) != width_of(to)) call.fail("the bits of " + name_of(from) + " are none of " + name_of(to), "types of one width");
  if (from == to) return call.value(0);
  for (const Dtype each : {x.dtype(), dtype}) {
    if (each == f16 || each == bf16 || (each == b8 && dtype == b8)) call.unsupported("the bits of " + name_of(from) + " as " + name_of(to));
  }
  if (is_floating(x.dtype())) x = bitcast(x, x.dtype() == f32 ? i32 : i64);
  if (is_floating(dtype)) return bitcast(cast(x, dtype == f32 ? i32 : i64), dtype);
  return wrapped(cast(x, dtype), to);
}

constexpr RuleEntry entries[] = {
    {"BitwiseAnd", 18, bits<bitwise_and>, elementwise}, {"BitwiseOr", 18, bits<bitwise_or>, elementwise},
    {"BitwiseXor", 18, bits<bitwise_xor>, elementwise}, {"BitwiseNot", 18, not_rule, elementwise},
    {"BitShift", 11, shift_rule, elementwise},          {"BitCast", 26, bitcast_rule, elementwise},
};

}  // namespace

const RuleTable bitwise_rules = entries;

}  // namespace anyshape::onnx
