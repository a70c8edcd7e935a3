// Tensors from nothing but a shape. The same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/tensor.h>

#include <optional>

#pragma GCC visibility push(default)
namespace anyshape {

/// The dtype of ones and zeros.
struct MakeOptions {
  Dtype dtype = Dtype::f32;
};
/// The dtype of full.
struct FullOptions {
  std::optional<Dtype> dtype = std::nullopt;  ///< none: the value's; a host float is f32, a host integer i32
};
/// The value everywhere. Of a host number its 64 bits stay: where + - * / meet f64 nothing of 0.1 is lost. Other ops see f32; see .dtype.
Tensor full(const Shape& shape, const Tensor& value, FullOptions options = {});
Tensor ones(const Shape& shape, MakeOptions options = {});   ///< 1 everywhere
Tensor zeros(const Shape& shape, MakeOptions options = {});  ///< 0 everywhere

/// The dtype of full_like, ones_like and zeros_like.
struct LikeOptions {
  std::optional<Dtype> dtype = std::nullopt;  ///< none: the tensor's
};
Tensor full_like(const Tensor& x, const Tensor& value, LikeOptions options = {});  ///< of x's shape
Tensor ones_like(const Tensor& x, LikeOptions options = {});                       ///< likewise, all 1
Tensor zeros_like(const Tensor& x, LikeOptions options = {});                      ///< likewise, all 0

/// The dtype of arange; b8 is a DtypeError.
struct ArangeOptions {
  Dtype dtype = Dtype::i32;
};
Tensor arange(const Dim& end, ArangeOptions options = {});  ///< 0, 1, ..., end - 1; a ShapeError where an integer dtype cannot hold them
Tensor arange(const Dim& begin, const Dim& end, ArangeOptions options = {});  ///< begin, begin + 1, ..., end - 1; none where end <= begin
/// Whether linspace reaches its end, and the dtype of its numbers.
struct LinspaceOptions {
  bool endpoint = true;  ///< the last number is `end`; without it, the one before would be
  Dtype dtype = Dtype::f32;
};
Tensor linspace(double begin, double end, const Dim& count, LinspaceOptions options = {});  ///< equal distances, computed in f64
/// Columns, diagonal and dtype of eye.
struct EyeOptions {
  std::optional<Dim> columns = std::nullopt;  ///< none: as many as rows
  int64_t offset = 0;                         ///< of the diagonal of ones
  Dtype dtype = Dtype::f32;
};
Tensor eye(const Dim& rows, const EyeOptions& options = {});  ///< [rows, columns]: 1 on the diagonal, 0 elsewhere

Tensor size(const Tensor& x, int64_t axis);  ///< a size as an i64 tensor

}  // namespace anyshape
#pragma GCC visibility pop
