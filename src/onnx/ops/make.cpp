// ONNX's ops that make tensors of nothing but shapes and numbers.
#include "onnx/rule.h"
#include "onnx/walk.h"

#include <anyshape/ops.h>

#include <cmath>

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

Results size_rule(NodeCall& call) {
  std::optional<Value> sizes = fold_sizes(call);
  if (!sizes) call.fail("its input is a sequence", "a tensor");
  return std::move(*sizes);
}

Results constant_of_shape_rule(NodeCall& call) {
  const Shape shape(call.sizes(0));
  if (!call.has("value")) return zeros(shape);
  const Value value = call.tensor("value");
  if (value.shape().count().value() != 1) call.fail("its value has " + to_string(value.shape().count()) + " elements", "one");
  return Value(broadcast_to(reshape(value.tensor(), {}), shape), value.type());
}

Results eye_like_rule(NodeCall& call) {
  const Shape shape = call.shape(0);
  if (shape.rank() != 2) call.fail("its input has rank " + std::to_string(shape.rank()), "a matrix");
  const ElementType type = call.type("dtype", call.type(0));
  const Tensor matrix = eye(shape[0], {.columns = shape[1], .offset = call.integer("k", 0), .dtype = call.dtype_of(type)});
  return Value(matrix, type);
}

// Numbers that are sizes give expressions; others are known when they are looked at, or refused.
Results range_rule(NodeCall& call) {
  const Dtype dtype = call.dtype(0);
  if (!is_floating(dtype)) {
    const Dim begin = call.size(0), end = call.size(1), step = call.size(2);
    if (!step.is_constant()) call.unsupported("a step that is no number");
    const int64_t stride = step.value();
    if (stride == 0) call.fail("the step is 0", "another one");
    const Dim distance = stride > 0 ? end - begin : begin - end, length = stride > 0 ? stride : -stride;
    const Dim count = max((distance + (length - 1)) / length, 0);
    const Tensor numbers =
        arange(count, {.dtype = i64}) * stride + (begin.is_constant() ? Tensor(begin.value()) : Value::size(begin).tensor());
    return Value(cast(numbers, dtype), call.type(0));
  }
  const double begin = call.number(0), end = call.number(1), step = call.number(2);
  if (step == 0) call.fail("the step is 0", "another one");
  const auto count = static_cast<int64_t>(std::max(std::ceil((end - begin) / step), 0.0));
  const Dtype computed = is_floating(dtype) && dtype != f64 ? f32 : f64;
  return cast(begin + arange(count, {.dtype = computed}) * step, dtype);
}

constexpr RuleEntry entries[] = {
    {"Constant", 1, constant_rule},
    {"Identity", 1, identity_rule, {.takes_images = true}},
    {"Shape", 1, size_rule, {.takes_images = true}},
    {"Size", 1, size_rule, {.takes_images = true}},
    {"ConstantOfShape", 9, constant_of_shape_rule},
    {"EyeLike", 9, eye_like_rule},
    {"Range", 11, range_rule},
};

}  // namespace

const RuleTable make_rules = entries;

}  // namespace anyshape::onnx
