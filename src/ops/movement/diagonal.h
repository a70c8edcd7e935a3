// A vector as a diagonal of a matrix, for the ops that make one.
#pragma once
#include <anyshape/tensor.h>

namespace anyshape {

// The matrix with x on the diagonal that begins at the first row (offset >= 0) or the first column, and zeros elsewhere; x has as many
// elements as the diagonal.
Tensor diagonal_matrix(const Tensor& x, const Dim& rows, const Dim& columns, int64_t offset);
Dim diagonal_size(const Dim& rows, const Dim& columns, int64_t offset);

}  // namespace anyshape
