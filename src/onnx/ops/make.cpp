// ONNX's ops that make tensors of nothing but shapes and numbers.
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {
namespace {

Results constant_rule(NodeCall& call) {
  if (call.has("value")) return call.tensor("value");
  if (call.has("value_float")) return Value::constant(full({}, call.number("value_float", 0), {.dtype = f32}));
  if (call.has("value_int")) return Value::constant(full({}, call.integer("value_int"), {.dtype = i64}));
  if (call.has("value_floats")) return Value::constant(cast(tensor(call.numbers("value_floats")), f32));
  if (call.has("value_ints")) return Value::constant(tensor(call.integers("value_ints")));
  call.unsupported("a constant of text or of a sparse tensor");
}

Results identity_rule(NodeCall& call) { return call.value(0); }

constexpr RuleEntry entries[] = {{"Constant", 1, constant_rule}, {"Identity", 1, identity_rule, {.takes_images = true}}};

}  // namespace

const RuleTable make_rules = entries;

}  // namespace anyshape::onnx
