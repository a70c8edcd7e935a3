// Arithmetic of host numbers alone: its result has f32 elements as ever, and the 64 bits of what the host would compute, which a cast to f64 takes.
#pragma once
#include "tensor/tensor_impl.h"

#include <cmath>

namespace anyshape {

// A host number, or what full() or arithmetic made of such ones.
inline bool has_host_number(const Tensor& x) { return x.impl()->weak || x.impl()->number != 0; }

// Made just now, so that nobody else has looked at it.
inline void keep_host_number(const Tensor& result, double number) {
  if (result.dtype() == Dtype::f32 && std::isfinite(number)) const_cast<TensorImpl&>(*result.impl()).number = number;
}

// The result of an op on a and b, with what `compute` gives for their numbers.
template <class Compute>
Tensor with_host_number(Tensor result, const Tensor& a, const Tensor& b, const Compute& compute) {
  if (has_host_number(a) && has_host_number(b)) [[unlikely]]
    keep_host_number(result, compute(a.impl()->number, b.impl()->number));
  return result;
}

}  // namespace anyshape
