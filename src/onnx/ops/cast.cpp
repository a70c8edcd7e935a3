// ONNX's casts.
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {
namespace {

constexpr RuleOptions elementwise{.is_elementwise = true};

Results cast_rule(NodeCall& call) {
  const ElementType to = call.type("to", ElementType::Undefined);
  return Value(cast(call.tensor(0), call.dtype_of(to)), to);
}

constexpr RuleEntry entries[] = {{"Cast", 6, cast_rule, elementwise}};

}  // namespace

const RuleTable cast_rules = entries;

}  // namespace anyshape::onnx
