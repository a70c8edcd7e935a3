// Tensors from nothing but a shape. The same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/tensor.h>

#include <optional>

#pragma GCC visibility push(default)
namespace anyshape {

struct MakeOptions {
  Dtype dtype = Dtype::f32;
};
Tensor full(const Shape& shape, const Tensor& value);  // the value's dtype (a host float is f32, a host integer i32)
Tensor ones(const Shape& shape, MakeOptions options = {});
Tensor zeros(const Shape& shape, MakeOptions options = {});

struct LikeOptions {
  std::optional<Dtype> dtype = std::nullopt;  // none: the tensor's
};
Tensor full_like(const Tensor& x, const Tensor& value, LikeOptions options = {});  // of x's shape
Tensor ones_like(const Tensor& x, LikeOptions options = {});
Tensor zeros_like(const Tensor& x, LikeOptions options = {});

struct ArangeOptions {
  Dtype dtype = Dtype::i32;
};
Tensor arange(const Dim& end, ArangeOptions options = {});  // 0, 1, ..., end - 1
Tensor arange(const Dim& begin, const Dim& end, ArangeOptions options = {});
struct LinspaceOptions {
  bool endpoint = true;  // the last number is `end`; without it, the one before would be
  Dtype dtype = Dtype::f32;
};
Tensor linspace(double begin, double end, const Dim& count, LinspaceOptions options = {});  // equal distances, computed in f64
struct EyeOptions {
  std::optional<Dim> columns = std::nullopt;  // none: as many as rows
  int64_t offset = 0;                         // of the diagonal of ones
  Dtype dtype = Dtype::f32;
};
Tensor eye(const Dim& rows, const EyeOptions& options = {});

Tensor size(const Tensor& x, int64_t axis);  // a size as an i64 tensor

}  // namespace anyshape
#pragma GCC visibility pop
