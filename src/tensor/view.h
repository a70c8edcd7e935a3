// Eager tensors as strided views: making them, looking at them from other angles, and copying them into row-major order. What leads outside
// the tensor is a ShapeError; a view of a weak number is not weak.
#pragma once
#include "tensor/tensor_impl.h"

#include <span>
#include <string_view>

namespace anyshape {

Tensor make_empty(Dtype dtype, std::span<const int64_t> sizes);  // row-major, not initialised
Tensor make_scalar(Dtype dtype, double number);                  // rank 0
Tensor make_scalar(Dtype dtype, int64_t number);
Tensor number_as(const Tensor& weak, Dtype dtype);  // a weak host number as an ordinary tensor of rank 0, from its full value

bool is_contiguous(const TensorImpl& tensor);  // row-major without gaps (axes of size 1 aside)
Tensor contiguous(const Tensor& tensor);       // itself, or a row-major copy
int64_t copies_made();                         // by contiguous() on this thread

Tensor transpose_view(const Tensor& tensor, std::span<const int> permutation);
// Along every axis: element `begin + i * step`, i < size.
Tensor slice_view(const Tensor& tensor, std::span<const int64_t> begins, std::span<const int64_t> sizes, std::span<const int64_t> steps);
Tensor reshape_view(const Tensor& tensor, std::span<const int64_t> sizes);    // copies where the strides do not allow a view
Tensor broadcast_view(const Tensor& tensor, std::span<const int64_t> sizes);  // stride 0 along repeated axes
// The same tensor under a handle of its own: tapes know tensors by what their handles point at.
Tensor another_handle(const Tensor& tensor);
bool is_traced(const Tensor& tensor);

// The tensor's values on the host: ArgumentError for a handle on nothing, TraceError inside a trace. `place` opens the text.
const TensorImpl& require_eager(const Tensor& tensor, std::string_view place);

}  // namespace anyshape
