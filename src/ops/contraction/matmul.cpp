// matmul: a [..., m, k], b [..., k, n] -> [..., m, n]; leading axes broadcast. Transposes are attributes, so that gradients are products of
// the tensors as they stand.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "ops/all_ops.h"
#include "ops/contraction/lower_matmul.h"
#include "ops/ragged/rules.h"
#include "shape/broadcast.h"
#include "tensor/view.h"

#include <anyshape/ops.h>

#include <algorithm>
#include <numeric>

namespace anyshape {
namespace {

Specs shape(OpCall& call) {
  const MatmulAttrs& attrs = call.attrs_as<MatmulAttrs>();
  const Shape &a = call.shape(0), &b = call.shape(1);
  if (a.rank() < 2 || b.rank() < 2) call.fail("a scalar has no axis to sum over", "vectors, matrices or batches of matrices");
  const std::string_view rule = attrs.transpose_a ? (attrs.transpose_b ? "a.shape[-2] == b.shape[-1]" : "a.shape[-2] == b.shape[-2]")
                                                  : (attrs.transpose_b ? "a.shape[-1] == b.shape[-1]" : "a.shape[-1] == b.shape[-2]");
  call.require({Relation::Equal, a[attrs.transpose_a ? -2 : -1], b[attrs.transpose_b ? -1 : -2]}, "inner sizes differ", rule);

  std::optional<Broadcast> batch = broadcast(batch_shape(a), batch_shape(b), call.facts);
  constexpr std::string_view what = "leading axes do not broadcast",
                             batch_rule = "sizes that are equal or 1, aligned before the last two axes";
  if (!batch) call.fail(what, batch_rule);
  for (SizeCheck& check : batch->checks) call.checks.push_back({std::move(check), std::string(what), std::string(batch_rule)});
  Shape result = std::move(batch->shape);
  result.push_back(a[attrs.transpose_a ? -1 : -2]);
  result.push_back(b[attrs.transpose_b ? -2 : -1]);
  return {{call.inputs[0].dtype, std::move(result), {}}};
}

// All rows of a batch under each other: [..., m, k] -> [... * m, k].
Tensor stacked(const Tensor& x) {
  const Shape shape = x.shape();
  Dim rows = 1;
  for (int axis = 0; axis + 1 < shape.rank(); ++axis) rows = rows * shape[axis];
  return reshape(x, {rows, shape[-1]});
}

Tensor gradient_of_b(const Tensor& a, const Tensor& b, const Tensor& dy, const MatmulAttrs& attrs) {
  // One matrix b for a batch of a: one product over all rows, and never a product per batch entry to be added up afterwards.
  if (b.rank() == 2 && a.rank() > 2 && !attrs.transpose_a) return gradient_of_b(stacked(a), b, stacked(dy), attrs);
  const Tensor db = attrs.transpose_b ? matmul(dy, a, {.transpose_a = true, .transpose_b = attrs.transpose_a})
                                      : matmul(a, dy, {.transpose_a = !attrs.transpose_a, .transpose_b = false});
  return sum_to(db, b.shape());
}

// A matrix whose columns are neighbours in memory is one of rows, transposed. Rows may stand apart, but not within each other.
uint64_t layout(std::span<Tensor> inputs, Attrs& attrs) {
  MatmulAttrs changed = attrs.as<MatmulAttrs>();
  uint64_t readable = 0;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const int rows = inputs[k].rank() - 2, columns = rows + 1;
    if (inputs[k].impl()->strides[rows] == 1 && inputs[k].impl()->strides[columns] != 1) {
      std::vector<int> permutation(static_cast<size_t>(rows + 2));
      std::iota(permutation.begin(), permutation.end(), 0);
      std::swap(permutation[static_cast<size_t>(rows)], permutation[static_cast<size_t>(columns)]);
      inputs[k] = transpose_view(inputs[k], permutation);
      bool& transpose = k == 0 ? changed.transpose_a : changed.transpose_b;
      transpose = !transpose;
    }
    const TensorImpl& matrix = *inputs[k].impl();
    const bool is_readable = matrix.strides[columns] == 1 && matrix.strides[rows] >= std::max<int64_t>(matrix.sizes[columns], 1);
    readable |= uint64_t{is_readable} << k;
  }
  attrs = Attrs(changed);
  return readable;
}

std::vector<Tensor> gradient(const GradientCall& call) {
  const MatmulAttrs& attrs = call.attrs.as<MatmulAttrs>();
  const Tensor &a = call.inputs[0], &b = call.inputs[1], &dy = call.dys[0];
  std::vector<Tensor> result(2);
  if (call.needed[0]) {
    const Tensor da = attrs.transpose_a ? matmul(b, dy, {.transpose_a = attrs.transpose_b, .transpose_b = true})
                                        : matmul(dy, b, {.transpose_a = false, .transpose_b = !attrs.transpose_b});
    result[0] = sum_to(da, a.shape());
  }
  if (call.needed[1]) result[1] = gradient_of_b(a, b, dy, attrs);
  return result;
}

// Every element of every row times one matrix.
std::vector<Tensor> ragged(const RaggedCall& call) {
  const Tensor &a = call.inputs[0], &b = call.inputs[1];
  if (!a.is_ragged() || b.is_ragged() || b.rank() != 2 || a.rank() < 3 || call.attrs.as<MatmulAttrs>().transpose_a) {
    refuse(call, "a product along rows", "a of shape [rows, (lengths), ..., k] and one matrix b; to_padded(x) for products of rows");
  }
  return {on_values(a, [&](const Tensor& values) { return bind(call.op, {values, b}, call.attrs); })};
}

// Rows of a meet all of b.
bool keeps_rows(const OpCall& call) {
  return call.shape(1).rank() == 2 && (call.shape(0).rank() > 2 || !call.attrs_as<MatmulAttrs>().transpose_a);
}

constexpr RowRule row_rule{.is_apart = keeps_rows};

}  // namespace

constinit const OpDef matmul_op{.name = "matmul",
                                .kind = OpKind::Contraction,
                                .inputs = 2,
                                .dtype = dtype_rule::promoted_number,
                                .shape = shape,
                                .ragged = RaggedPolicy::Values,
                                .ragged_rule = ragged,
                                .gradient = gradient,
                                .lower = lower_matmul,
                                .rows = &row_rule,
                                .layout = layout,
                                .attrs = [] { return Attrs(MatmulAttrs{}); },
                                .traits = {.never_negative_zero = NeverNegativeZero::Always}};  // begins with 0, and 0 + -0 is 0

// A vector is a matrix of one row on the left and of one column on the right; that axis is gone from the result.
Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options) {
  const bool left = a.rank() == 1, right = b.rank() == 1;
  const Tensor product = bind(matmul_op, {left ? reshape(a, {1, a.shape()[0]}) : a, right ? reshape(b, {b.shape()[0], 1}) : b},
                              MatmulAttrs{options.transpose_a && !left, options.transpose_b && !right});
  if (!left && !right) return product;
  Shape shape = batch_shape(product.shape());
  if (!left) shape.push_back(product.shape()[-2]);
  if (!right) shape.push_back(product.shape()[-1]);
  return reshape(product, shape);
}

}  // namespace anyshape
