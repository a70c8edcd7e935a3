// ONNX's products.
#include "onnx/ops/narrow.h"
#include "onnx/rule.h"

#include <anyshape/control.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

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

// Of the last two axes: each step takes the greatest number left in a column to the diagonal, and subtracts that row from those below.
Results det_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  if (x.rank() < 2) call.fail(fmt::format("its input has rank {}", x.rank()), "matrices");
  const Dim size = x.shape()[-1];
  Shape batch;
  for (int axis = 0; axis + 2 < x.rank(); ++axis) batch.push_back(x.shape()[axis]);
  const Tensor matrices = reshape(x, {batch.count(), x.shape()[-2], size}), row = reshape(arange(size, {.dtype = i64}), {1, size, 1});
  const std::vector<Tensor> initial{matrices, ones({batch.count(), 1, 1}, {.dtype = x.dtype()})};
  auto [last, unused] = scan(
      [&](const std::vector<Tensor>& carried, const Tensor& step) {
        const Tensor& matrix = carried[0];
        const Tensor column = take(matrix, reshape(step, {1}), {.axis = 2});  // [batch, size, 1]
        const Tensor place = cast(argmax(where(row < step, -1, abs(column)), {.axis = 1, .keep_dims = true}), i64);
        const Tensor chosen = take_along_axis(matrix, broadcast_to(place, {batch.count(), 1, size}), {.axis = 1});
        const Tensor swapped = where(row == step, chosen, where(row == place, take(matrix, reshape(step, {1}), {.axis = 1}), matrix));
        const Tensor pivot = take(chosen, reshape(step, {1}), {.axis = 2});
        const Tensor factor =
            where(logical_and(row > step, pivot != 0), take(swapped, reshape(step, {1}), {.axis = 2}) / where(pivot == 0, 1, pivot), 0);
        const Tensor product = carried[1] * where(place == step, pivot, -pivot);
        return std::pair(std::vector{swapped - factor * chosen, product}, std::vector<Tensor>());
      },
      initial, arange(size, {.dtype = i64}));
  return reshape(last[1], batch);
}

constexpr RuleEntry entries[] = {{"MatMul", 1, matmul_rule}, {"Gemm", 6, gemm_rule}, {"Einsum", 12, einsum_rule}, {"Det", 11, det_rule}};

}  // namespace

const RuleTable contraction_rules = entries;

}  // namespace anyshape::onnx
