// ONNX's products.
#include "onnx/ops/narrow.h"
#include "onnx/rule.h"

#include <anyshape/ops.h>

namespace anyshape::onnx {
namespace {

Results matmul_rule(NodeCall& call) { return wrapped(matmul(call.tensor(0), call.tensor(1)), call.type(0)); }

Results gemm_rule(NodeCall& call) {
  const double alpha = call.number("alpha", 1), beta = call.number("beta", 1);
  Tensor product = matmul(call.tensor(0), call.tensor(1), {.transpose_a = call.flag("transA"), .transpose_b = call.flag("transB")});
  const auto scaled = [](const Tensor& x, double factor) { return factor == 1 ? x : cast(x * factor, x.dtype()); };
  product = scaled(product, alpha);
  if (call.has(2) && beta != 0) product = product + scaled(call.tensor(2), beta);
  return wrapped(product, call.type(0));
}

Results einsum_rule(NodeCall& call) { return wrapped(einsum(call.text("equation", ""), call.tensors()), call.type(0)); }

constexpr RuleEntry entries[] = {{"MatMul", 1, matmul_rule}, {"Gemm", 7, gemm_rule}, {"Einsum", 12, einsum_rule}};

}  // namespace

const RuleTable contraction_rules = entries;

}  // namespace anyshape::onnx
