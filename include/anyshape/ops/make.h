// Tensors from nothing but a shape. The same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/tensor.h>

namespace [[gnu::visibility("default")]] anyshape {

struct MakeOptions {
  Dtype dtype = Dtype::f32;
};
Tensor full(const Shape& shape, const Tensor& value);  // the value's dtype (a host float is f32, a host integer i32)
Tensor ones(const Shape& shape, MakeOptions options = {});
Tensor zeros(const Shape& shape, MakeOptions options = {});
struct ArangeOptions {
  Dtype dtype = Dtype::i32;
};
Tensor arange(const Dim& end, ArangeOptions options = {});  // 0, 1, ..., end - 1
Tensor arange(const Dim& begin, const Dim& end, ArangeOptions options = {});
Tensor size(const Tensor& x, int64_t axis);  // a size as an i64 tensor

}  // namespace anyshape
