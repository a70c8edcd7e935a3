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

constexpr RuleEntry entries[] = {
    {"BitwiseAnd", 18, bits<bitwise_and>, elementwise}, {"BitwiseOr", 18, bits<bitwise_or>, elementwise},
    {"BitwiseXor", 18, bits<bitwise_xor>, elementwise}, {"BitwiseNot", 18, not_rule, elementwise},
    {"BitShift", 11, shift_rule, elementwise},
};

}  // namespace

const RuleTable bitwise_rules = entries;

}  // namespace anyshape::onnx
