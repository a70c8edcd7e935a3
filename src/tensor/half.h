// The half-width floats are ways to store: f16 (range to 65504, 11 bits) and bf16 (the range of f32, 8 bits). Arithmetic on them is f32's.
#pragma once
#include <anyshape/dtype.h>

namespace anyshape {

constexpr bool is_half(Dtype dtype) { return dtype == Dtype::f16 || dtype == Dtype::bf16; }

// The dtype that numbers of `dtype` are computed in.
constexpr Dtype computed_in(Dtype dtype) { return is_half(dtype) ? Dtype::f32 : dtype; }

}  // namespace anyshape
