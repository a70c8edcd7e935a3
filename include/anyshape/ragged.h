// Ragged tensors: rows of unequal length without padding. A ragged tensor is [rows, (shortest..longest), ...]; ops on it run on its elements
// or row by row, and what cannot do either says so and names to_padded. The same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/tensor.h>

#include <initializer_list>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// From host numbers: ragged({{1, 2, 3}, {4, 5}}) is i32[2, (2..3)].
///@{
template <class T>
Tensor ragged(std::initializer_list<std::initializer_list<T>> rows);
template <class T>
Tensor ragged(const std::vector<std::vector<T>>& rows);
///@}

/// Rows that are tensors [length, ...]: of one dtype, and equal but for their length.
Tensor ragged_from_rows(const std::vector<Tensor>& rows);
/// The elements of all rows, [total, ...], and where rows begin: i32 or i64[rows + 1] from 0 to total, never decreasing; a DataError otherwise.
Tensor ragged_from_splits(const Tensor& values, const Tensor& splits);
/// Likewise with the rows' lengths, i32 or i64[rows], which add up to total.
Tensor ragged_from_lengths(const Tensor& values, const Tensor& lengths);
Tensor with_rows_of(const Tensor& values, const Tensor& ragged);  ///< other values [total, ...] in the rows of a ragged tensor

Tensor row_lengths(const Tensor& x);    ///< i64[rows]
Tensor row_ids(const Tensor& x);        ///< i64[total]: the row that each element is of
Tensor row_positions(const Tensor& x);  ///< the position of each element in its row, i64[rows, (lengths)]

Tensor row(const Tensor& x, int64_t index);    ///< one row, [length, ...]; negative counts from the end. Not inside a trace.
std::vector<Tensor> to_rows(const Tensor& x);  ///< all of them. Not inside a trace.

/// What to_padded fills rows with, and up to which length.
struct ToPaddedOptions {
  Tensor value = 0;                          ///< what stands behind a row's end, in the tensor's dtype
  std::optional<Dim> length = std::nullopt;  ///< rows are filled up or cut to it; none: the longest row's
};
Tensor to_padded(const Tensor& x, const ToPaddedOptions& options = {});  ///< [rows, (lengths), ...] -> [rows, length, ...]
/// The first lengths[r] elements of every row r: x [rows, time, ...] and lengths i32 or i64[rows] -> [rows, (lengths), ...].
Tensor from_padded(const Tensor& x, const Tensor& lengths);

}  // namespace anyshape
#pragma GCC visibility pop
