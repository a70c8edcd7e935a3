// ONNX's ops that put elements elsewhere.
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {
namespace {

// 0 keeps the input's size of that axis, -1 is what is left.
Results reshape_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const bool zero_is_zero = call.flag("allowzero");
  Shape shape;
  for (const Dim& size : call.sizes(1)) {
    const bool keeps = !zero_is_zero && size.is_constant() && size.value() == 0;
    shape.push_back(keeps ? x.shape()[static_cast<int>(call.axis(shape.rank(), x.rank()))] : size);
  }
  return reshape(x, shape);
}

Results transpose_rule(NodeCall& call) { return transpose(call.tensor(0), call.integers("perm")); }

constexpr RuleEntry entries[] = {{"Reshape", 5, reshape_rule}, {"Transpose", 1, transpose_rule}};

}  // namespace

const RuleTable movement_rules = entries;

}  // namespace anyshape::onnx
