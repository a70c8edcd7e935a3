// ONNX's products.
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {
namespace {

Results matmul_rule(NodeCall& call) {
  const Tensor a = call.tensor(0), b = call.tensor(1);
  if (a.rank() > 1 && b.rank() > 1) return matmul(a, b);
  const Tensor rows = a.rank() == 1 ? expand_dims(a, 0) : a, columns = b.rank() == 1 ? expand_dims(b, -1) : b;
  Tensor product = matmul(rows, columns);
  if (b.rank() == 1) product = squeeze(product, -1);
  if (a.rank() == 1) product = squeeze(product, b.rank() == 1 ? -1 : -2);
  return product;
}

constexpr RuleEntry entries[] = {{"MatMul", 1, matmul_rule}};

}  // namespace

const RuleTable contraction_rules = entries;

}  // namespace anyshape::onnx
