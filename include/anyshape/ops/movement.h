// Ops that put elements elsewhere. The same functions eagerly and inside a traced function. Eagerly, what can be seen by other strides
// (reshape, transpose, broadcast_to, slice, expand_dims, squeeze, flip and what is made of them) shares the tensor's memory.
#pragma once
#include <anyshape/tensor.h>

#include <concepts>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// In `reshape` one size may be -1: what is left.
Tensor reshape(const Tensor& x, const Shape& shape);
Tensor expand_dims(const Tensor& x, int64_t axis);  ///< a new axis of size 1, which is this one of the result
/// Axes of size 1 go. None named: all that are of size 1; inside a trace that fixes which sizes are 1, and other sizes trace anew.
///@{
Tensor squeeze(const Tensor& x, const std::vector<int64_t>& axes = {});
template <std::integral Integer>
Tensor squeeze(const Tensor& x, Integer axis) {
  return squeeze(x, std::vector<int64_t>{static_cast<int64_t>(axis)});
}
///@}

Tensor transpose(const Tensor& x, const std::vector<int64_t>& permutation = {});  ///< none: axes reversed
Tensor moveaxis(const Tensor& x, int64_t from, int64_t to);                       ///< the others keep their order
Tensor swapaxes(const Tensor& x, int64_t first, int64_t second);                  ///< two axes exchanged

Tensor broadcast_to(const Tensor& x, const Shape& shape);  ///< x's sizes are equal or 1, aligned at the last axis; else a ShapeError
Tensor sum_to(const Tensor& x, const Shape& shape);        ///< the reverse of broadcast_to: sums what was repeated

/// A part of an axis as NumPy's begin:end:step, without the end itself; a step of 0 is a ShapeError.
struct SliceRange {
  std::optional<Dim> begin = std::nullopt;  ///< none: from the first element on, with a negative step from the last
  std::optional<Dim> end = std::nullopt;    ///< none: as far as there are elements
  int64_t step = 1;
};
Tensor slice(const Tensor& x, const std::vector<SliceRange>& ranges);  ///< one range per leading axis; negative bounds count from the end

/// x with another value where x[index] or x.at(...) stands: updated(x, 0, row), updated(x, {1, -1}, 0), updated(x, as::at(as::whole, 0), column).
/// The value has the part's shape or spreads to it, and x's dtype or a lower one; gradients go to both.
///@{
Tensor updated(const Tensor& x, const Index& index, const Tensor& value);
Tensor updated(const Tensor& x, const Indices& indices, const Tensor& value);
///@}

Tensor row_major(const Tensor& x);  ///< x itself where its elements lie in row-major order without gaps, else a copy in which they do

/// The axis of concat; negative counts from the end.
struct ConcatOptions {
  int64_t axis = 0;
};
/// Tensors one after the other along an axis that they have.
///@{
Tensor concat(const std::vector<Tensor>& tensors, ConcatOptions options = {});
template <std::integral Integer>
Tensor concat(const std::vector<Tensor>& tensors, Integer axis) {
  return concat(tensors, ConcatOptions{.axis = static_cast<int64_t>(axis)});
}
///@}

/// The new axis of stack, and the axis that unstack takes apart; negative counts from the end.
struct StackOptions {
  int64_t axis = 0;
};
Tensor stack(const std::vector<Tensor>& tensors, StackOptions options = {});  ///< along a new axis
std::vector<Tensor> unstack(const Tensor& x, StackOptions options = {});      ///< the reverse; the axis has a constant size

/// The axis of split; negative counts from the end.
struct SplitOptions {
  int64_t axis = 0;
};
std::vector<Tensor> split(const Tensor& x, const std::vector<Dim>& indices, SplitOptions options = {});  ///< a part begins at every index
/// Equal parts, as split(x, sections); a ShapeError where `sections` does not divide the size.
std::vector<Tensor> split_evenly(const Tensor& x, int64_t sections, SplitOptions options = {});
/// Into equal parts. A template so that split(x, {2}) means the index.
template <std::integral Integer>
std::vector<Tensor> split(const Tensor& x, Integer sections, SplitOptions options = {}) {
  return split_evenly(x, static_cast<int64_t>(sections), options);
}

/// How many elements pad adds on both ends of an axis; below 0 is a ShapeError.
struct PadWidth {
  Dim before = 0;
  Dim after = 0;
};
/// What pad adds.
enum class PadMode : uint8_t {
  Constant,
  Edge,       ///< the outermost element again
  Reflect,    ///< mirrored, the outermost element not repeated: widths below the axis's size
  Symmetric,  ///< mirrored with the outermost element: widths up to the axis's size
};
/// What pad adds: zeros unless said otherwise.
struct PadOptions {
  PadMode mode = PadMode::Constant;
  Tensor value = 0;  ///< of PadMode::Constant; in the tensor's dtype
};
Tensor pad(const Tensor& x, const std::vector<PadWidth>& widths, const PadOptions& options = {});  ///< one width per leading axis

Tensor tile(const Tensor& x, const std::vector<Dim>& repeats);  ///< the whole tensor again and again; repeats are aligned at the last axis
/// The axis of repeat.
struct RepeatOptions {
  std::optional<int64_t> axis = std::nullopt;  ///< none: of the flattened tensor
};
Tensor repeat(const Tensor& x, const Dim& count, RepeatOptions options = {});  ///< every element `count` times in a row

/// The elements in the reverse order along the axes; none: along all.
///@{
Tensor flip(const Tensor& x, const std::vector<int64_t>& axes = {});
template <std::integral Integer>
Tensor flip(const Tensor& x, Integer axis) {
  return flip(x, std::vector<int64_t>{static_cast<int64_t>(axis)});
}
///@}
/// The axis of roll.
struct RollOptions {
  std::optional<int64_t> axis = std::nullopt;  ///< none: of the flattened tensor
};
Tensor roll(const Tensor& x, const Dim& shift, RollOptions options = {});  ///< what leaves at the end enters at the front

/// The diagonal of diag, tril and triu.
struct DiagonalOptions {
  int64_t offset = 0;  ///< above the main diagonal; below it where negative
};
Tensor diag(const Tensor& x, DiagonalOptions options = {});  ///< [n] -> [n, n] with x on the diagonal; [..., rows, cols] -> [..., diagonal]
Tensor tril(const Tensor& x, DiagonalOptions options = {});  ///< [..., rows, cols]: zero above the diagonal
Tensor triu(const Tensor& x, DiagonalOptions options = {});  ///< zero below it

/// The axes of meshgrid's results: a third vector and those behind it run along their own number in both.
enum class Indexing : uint8_t {
  XY,  ///< the first vector runs along axis 1, the second along axis 0
  IJ,  ///< vector k runs along axis k
};
/// The axes of meshgrid's results; the default is NumPy's.
struct MeshgridOptions {
  Indexing indexing = Indexing::XY;
};
std::vector<Tensor> meshgrid(const std::vector<Tensor>& vectors, MeshgridOptions options = {});  ///< each repeated along the others' axes

}  // namespace anyshape
#pragma GCC visibility pop
