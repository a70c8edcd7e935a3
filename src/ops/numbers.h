// The dtypes of ops made of others: integers and halves are computed in f32 from the first part to the last.
#pragma once
#include "tensor/half.h"

#include <anyshape/ops/elementwise.h>

namespace anyshape {

inline Tensor computable(const Tensor& x) { return cast(x, is_floating(x.dtype()) ? computed_in(x.dtype()) : Dtype::f32); }

// What was computed from computable(x), in the dtype that x calls for.
inline Tensor result_for(const Tensor& x, const Tensor& computed) { return is_half(x.dtype()) ? cast(computed, x.dtype()) : computed; }

template <class Composition>
Tensor in_f32(const Tensor& x, const Composition& composition) {
  return result_for(x, composition(computable(x)));
}

}  // namespace anyshape
