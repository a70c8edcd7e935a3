// ONNX's casts.
#include "onnx/ops/narrow.h"
#include "onnx/rule.h"

#include <anyshape/ops.h>
#include <anyshape/ops/bitwise.h>

#include <limits>

namespace anyshape::onnx {
namespace {

constexpr RuleOptions elementwise{.is_elementwise = true};
constexpr double two_to_63 = 9223372036854775808.0;

Value cast_to(NodeCall& call, ElementType to) {
  const Tensor x = call.tensor(0);
  const ElementType from = call.type(0);
  const Dtype dtype = call.dtype_of(to);
  // uint64 stands in i64: what is beyond half of its range is below 0 there.
  if (from == ElementType::Uint64 && is_floating(dtype)) {
    const Tensor number = cast(x, f64);
    return {cast(where(x < 0, number + 2 * two_to_63, number), dtype), to};
  }
  if (to == ElementType::Uint64 && is_floating(x.dtype())) {
    const Tensor number = cast(x, f64);
    const Tensor lowest = full({}, std::numeric_limits<int64_t>::min(), {.dtype = i64});
    return {where(number >= two_to_63, bitwise_xor(cast(number - two_to_63, i64), lowest), cast(number, i64)), to};
  }
  // By way of more bits than the type has, so that the low ones stay.
  const bool is_wide = is_narrow(to) && is_floating(x.dtype());
  return wrapped(cast(is_wide ? cast(x, i64) : x, dtype), to);
}

Results cast_rule(NodeCall& call) { return cast_to(call, call.type("to", ElementType::Undefined)); }
Results cast_like_rule(NodeCall& call) { return cast_to(call, call.type(1)); }

constexpr RuleEntry entries[] = {{"Cast", 6, cast_rule, elementwise}, {"CastLike", 15, cast_like_rule}};

}  // namespace

const RuleTable cast_rules = entries;

}  // namespace anyshape::onnx
