// ONNX's softmax and what is like it: along one axis from opset 13 on, over all axes from `axis` on before.
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {
namespace {

Tensor hardmax(const Tensor& x, AxisOptions options) {
  return one_hot(argmax(x, {.axis = options.axis}), x.shape()[static_cast<int>(options.axis)], {.axis = options.axis, .dtype = x.dtype()});
}

template <Tensor (*op)(const Tensor&, AxisOptions)>
Results along_axis(NodeCall& call) {
  const Tensor x = call.tensor(0);
  return op(x, {.axis = call.axis(call.integer("axis", -1), x.rank())});
}

template <Tensor (*op)(const Tensor&, AxisOptions)>
Results over_rest(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const int64_t axis = call.axis(call.integer("axis", 1), x.rank());
  Dim rows = 1, columns = 1;
  for (int each = 0; each < x.rank(); ++each) (each < axis ? rows : columns) = (each < axis ? rows : columns) * x.shape()[each];
  return reshape(op(reshape(x, {rows, columns}), {.axis = 1}), x.shape());
}

constexpr RuleEntry entries[] = {
    {"Softmax", 1, over_rest<softmax>},        {"Softmax", 13, along_axis<softmax>},        {"LogSoftmax", 1, over_rest<log_softmax>},
    {"LogSoftmax", 13, along_axis<log_softmax>}, {"Hardmax", 1, over_rest<hardmax>}, {"Hardmax", 13, along_axis<hardmax>},
};

}  // namespace

const RuleTable softmax_rules = entries;

}  // namespace anyshape::onnx
