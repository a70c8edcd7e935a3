// ONNX's convolutions of whole numbers: computed in f64, which holds their sums exactly.
#include "onnx/ops/narrow.h"
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {
namespace {

// Per channel a number stands before the axes of space.
Tensor per_channel(const Tensor& x, int rank, int axis) {
  if (x.rank() == 0 || x.shape()[0].same_as(1)) return reshape(x, {});
  Shape shape;
  for (int each = 0; each < rank; ++each) shape.push_back(each == axis ? x.shape()[0] : Dim(1));
  return reshape(x, shape);
}

Tensor convolved(NodeCall& call, size_t x, size_t x_zero, size_t w, size_t w_zero, size_t bias) {
  Tensor image = cast(call.tensor(x), f64), kernel = cast(call.tensor(w), f64);
  if (call.has(x_zero)) image = image - cast(reshape(call.tensor(x_zero), {}), f64);
  if (call.has(w_zero)) kernel = kernel - per_channel(cast(call.tensor(w_zero), f64), kernel.rank(), 0);
  std::vector<Value> inputs{image, kernel};
  if (call.has(bias)) inputs.emplace_back(cast(call.tensor(bias), f64));
  NodeCall conv = call.with_inputs(std::move(inputs));
  return find_rule("", "Conv", call.opset())->rule(conv).values[0].tensor();
}

constexpr size_t none = 1000;  // an input that the op does not have

Results conv_integer_rule(NodeCall& call) { return cast(convolved(call, 0, 2, 1, 3, none), i32); }

Results quantized_conv_rule(NodeCall& call) {
  const Tensor sum = convolved(call, 0, 2, 3, 5, 8);
  const Tensor scale = reshape(call.tensor(1), {}) * per_channel(call.tensor(4), sum.rank(), 1) / reshape(call.tensor(6), {});
  const auto [lowest, highest] = range_of(call.type(7));
  const Tensor number = round(sum * cast(scale, f64)) + cast(reshape(call.tensor(7), {}), f64);
  return Value(cast(clip(number, static_cast<double>(lowest), static_cast<double>(highest)), call.dtype(7)), call.type(7));
}

constexpr RuleEntry entries[] = {{"ConvInteger", 10, conv_integer_rule}, {"QLinearConv", 10, quantized_conv_rule}};

}  // namespace

const RuleTable quantized_image_rules = entries;

}  // namespace anyshape::onnx
