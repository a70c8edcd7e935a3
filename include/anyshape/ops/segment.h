// Rows of unequal length that stand one behind the other, as dense tensors: values [total, ...], and row splits i64[rows + 1] that begin at 0,
// never decrease and end at total; row r is values[splits[r] .. splits[r + 1]]. Other splits are a DataError when the op runs; i32 splits are
// taken, too. Rows may be empty. The same functions eagerly and inside a traced function, where one trace serves every partition.
#pragma once
#include <anyshape/tensor.h>

#include <vector>

#pragma GCC visibility push(default)
namespace anyshape::segment {

/// A partition. None of these looks at the values of the splits but row_ids and what is made of it.
Tensor row_starts(const Tensor& splits);                       ///< i64[rows]
Tensor row_lengths(const Tensor& splits);                      ///< i64[rows]
Tensor row_ids(const Tensor& splits, const Dim& total);        ///< i64[total]: the row that each element stands in
Tensor row_positions(const Tensor& splits, const Dim& total);  ///< i64[total]: its position in that row
Tensor splits_from_lengths(const Tensor& lengths);             ///< i64[rows + 1]; a length below 0 gives splits that every op refuses

/// One element per row: values [total, ...] -> [rows, ...].
Tensor sum(const Tensor& values, const Tensor& splits);   ///< b8 counts in i32, integers wrap; of an empty row 0
Tensor prod(const Tensor& values, const Tensor& splits);  ///< as sum; of an empty row 1
Tensor max(const Tensor& values,
           const Tensor& splits);  ///< NaN where there is one; of an empty row the lowest finite number (of halves -infinity)
Tensor min(const Tensor& values,
           const Tensor& splits);  ///< NaN where there is one; of an empty row the highest finite number (of halves infinity)
Tensor mean(const Tensor& values, const Tensor& splits);       ///< integers give f32; of an empty row NaN
Tensor any(const Tensor& values, const Tensor& splits);        ///< b8: is some element not zero? Of an empty row false
Tensor all(const Tensor& values, const Tensor& splits);        ///< b8: is every element not zero? Of an empty row true
Tensor logsumexp(const Tensor& values, const Tensor& splits);  ///< without overflow; of an empty row -infinity
/// The position in the row as i32: the first of equal ones, the first NaN where there is one; an empty row is a DataError.
///@{
Tensor argmax(const Tensor& values, const Tensor& splits);
Tensor argmin(const Tensor& values, const Tensor& splits);
///@}

/// Each row for itself: values [total, ...] -> [total, ...].
///@{
Tensor softmax(const Tensor& values, const Tensor& splits);
Tensor log_softmax(const Tensor& values, const Tensor& splits);
Tensor flip(const Tensor& values, const Tensor& splits);
///@}

/// From which end of each row cumsum and cumprod go.
struct CumulateOptions {
  bool reverse = false;    ///< from the row's end
  bool exclusive = false;  ///< without the element itself
};
/// Sums and products up to each element in its row, [total, ...]; integers wrap.
///@{
Tensor cumsum(const Tensor& values, const Tensor& splits, CumulateOptions options = {});
Tensor cumprod(const Tensor& values, const Tensor& splits, CumulateOptions options = {});
///@}

/// The order of sort and argsort: least first unless descending.
struct SortOptions {
  bool descending = false;
};
Tensor sort(const Tensor& values, const Tensor& splits, SortOptions options = {});     ///< stable; NaN comes last in both directions
Tensor argsort(const Tensor& values, const Tensor& splits, SortOptions options = {});  ///< i32: positions in the row

/// A row's element for each of the row's values: x [rows, ...] -> [total, ...]. The reverse of sum.
Tensor repeat(const Tensor& x, const Tensor& splits, const Dim& total);

/// Runs of values: row r of the result, splits[r + 1] - splits[r] elements, is what stands in `values` from starts[r] (i32 or i64) on.
/// `total` is where the splits end. A run that leaves the values is a DataError; starts before the first value count from the end.
Tensor gather_runs(const Tensor& values, const Tensor& starts, const Tensor& splits, const Dim& total);

/// Values and splits that belong together.
struct Rows {
  Tensor values;
  Tensor splits;
};
/// The rows that the indices (i32 or i64; negative ones count from the end) name, in their order. `total` is the sum of their lengths.
Rows gather_rows(const Rows& rows, const Tensor& indices, const Dim& total);
Rows concat(const std::vector<Rows>& parts);           ///< the rows of each part behind those of the one before
Rows concat_each_row(const std::vector<Rows>& parts);  ///< as many rows as each part has: row r is the rows r of all parts joined

/// What to_padded fills rows with.
struct PadOptions {
  Tensor value = 0;  ///< in the dtype of the values
};
/// values [total, ...] -> [rows, length, ...]: longer rows are cut, shorter ones filled up.
Tensor to_padded(const Tensor& values, const Tensor& splits, const Dim& length, const PadOptions& options = {});
/// padded [rows, length, ...] -> [total, ...]: the first elements of each row, zeros where a row of the splits is longer.
Tensor from_padded(const Tensor& padded, const Tensor& splits, const Dim& total);

}  // namespace anyshape::segment
#pragma GCC visibility pop
