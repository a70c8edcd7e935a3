// Ops whose indices are data. The same functions eagerly and inside a traced function. Indices are i32 or i64; negative
// ones count from the end, others outside are a DataError.
#pragma once
#include <anyshape/ops/reduce.h>
#include <anyshape/tensor.h>

#pragma GCC visibility push(default)
namespace anyshape {

/// The axis of take, and which axes x and indices share.
struct TakeOptions {
  int64_t axis = 0;
  int64_t batch_dims = 0;  ///< leading axes that x and indices have in common; at most `axis`
  bool from_end = true;    ///< negative indices count from the end; otherwise they are outside, too
};
/// Slices of x along an axis, one per index: x [batch..., outer..., n, inner...] and indices [batch..., k...] give
/// [batch..., outer..., k..., inner...].
Tensor take(const Tensor& x, const Tensor& indices, TakeOptions options = {});

/// Elements of x along an axis: x [outer..., n, inner...] and indices [outer..., k, inner...] give [outer..., k, inner...].
Tensor take_along_axis(const Tensor& x, const Tensor& indices, AxisOptions options = {});

/// Parts of x: indices [k..., components] name the first axes of x and give [k..., the other axes of x...].
Tensor gather_nd(const Tensor& x, const Tensor& indices);

/// The reverse: zeros of `shape` with every update added where its index points; equal indices add up.
Tensor scatter(const Tensor& indices, const Tensor& updates, const Shape& shape);
Tensor scatter_add(const Tensor& x, const Tensor& indices, const Tensor& updates);  ///< added to x

/// The axis and the dtype of one_hot.
struct OneHotOptions {
  int64_t axis = -1;  ///< where the new axis stands in the result
  Dtype dtype = Dtype::f32;
};
/// 1 at each index along a new axis of size `classes`, 0 elsewhere; an index outside 0..classes - 1 gives zeros only.
Tensor one_hot(const Tensor& indices, const Dim& classes, OneHotOptions options = {});

/// The axis of sort and argsort, and the order: least first unless descending.
struct SortOptions {
  int64_t axis = -1;
  bool descending = false;
};
Tensor sort(const Tensor& x, SortOptions options = {});     ///< along an axis, stable; NaN comes last in both directions
Tensor argsort(const Tensor& x, SortOptions options = {});  ///< i32: the indices that sort it

/// What top_k gives.
struct TopK {
  Tensor values;
  Tensor indices;  ///< i32
};
/// The k greatest along an axis, greatest first, and their indices; of equal ones the first.
TopK top_k(const Tensor& x, const Dim& k, AxisOptions options = {});

/// Before its equals, or behind them.
enum class SearchSide : uint8_t { Left, Right };
/// On which side of its equals search_sorted inserts a value.
struct SearchSortedOptions {
  SearchSide side = SearchSide::Left;
};
/// Where each value would be inserted in a sorted vector to keep it sorted, as i32.
Tensor search_sorted(const Tensor& sorted, const Tensor& values, SearchSortedOptions options = {});

// Results of a data-dependent size. Inside a traced function that size is a symbol of its own (`unique0`): it is known after the op has
// run, and what follows stays in the trace. It cannot decide anything while the function is traced (`==`, `specialize`): a TraceError.

/// The parts of x where the mask is true, in order: x [masked..., rest...] and mask b8 [masked...] give [count, rest...].
Tensor boolean_mask(const Tensor& x, const Tensor& mask);

/// The index of every element that is not 0, in row-major order: i32 [count, rank], as gather_nd takes them.
Tensor nonzero(const Tensor& x);
Tensor where(const Tensor& condition);  ///< of every true element

/// What unique gives.
struct Unique {
  Tensor values;
  Tensor inverse;  ///< i32, as x: take(values, inverse) is x
  Tensor counts;   ///< i32 [count]: how often each value is there
};
/// What unique gives beside the values.
struct UniqueOptions {
  bool return_inverse = false;
  bool return_counts = false;
};
/// The different values of x in ascending order, [count]; NaNs are one value, the last. Gradients go to the first of equal elements.
Tensor unique(const Tensor& x);
Unique unique(const Tensor& x, UniqueOptions options);  ///< what the options do not ask for is an empty handle

}  // namespace anyshape
#pragma GCC visibility pop
