// Products summed over an axis. The same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/tensor.h>

#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// Which operands of matmul are transposed, over their last two axes.
struct MatmulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};
/// Contraction: [..., m, k] with [..., k, n] gives [..., m, n]; leading axes broadcast.
Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {});

/// Subscripts name the axes of the operands and of the result: "bij,bjk->bik"; what the result does not name is summed. A letter twice in one
/// operand is its diagonal; "..." stands for axes that broadcast; without "->" the result has the letters that occur once, in order.
Tensor einsum(std::string_view subscripts, const std::vector<Tensor>& operands);

Tensor outer(const Tensor& a, const Tensor& b);  ///< all elements with all: [n], [m] -> [n, m]
/// Sums over the last axes of a with the first of b, or over the axes listed; the result has what is left of a, then of b.
///@{
Tensor tensordot(const Tensor& a, const Tensor& b, int64_t axes = 2);
Tensor tensordot(const Tensor& a, const Tensor& b, const std::vector<int64_t>& axes_a, const std::vector<int64_t>& axes_b);
///@}
Tensor dot(const Tensor& a, const Tensor& b);   ///< matmul of vectors and matrices; of more axes: the last of a with the last but one of b
Tensor vdot(const Tensor& a, const Tensor& b);  ///< the sum of products of all elements -> []

}  // namespace anyshape
#pragma GCC visibility pop
