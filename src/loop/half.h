// Conversions between f32 and the bits of f16 and bf16 as loop instructions: the same bits in interpreter and machine code, on every
// processor, without a library. To nearest, ties to even; NaN stays a NaN (a quiet one) with its sign, what is too large is infinite.
// Denormals of both kinds are kept: those of bf16 are denormals of f32 too, and become zero only in arithmetic.
#pragma once
#include "loop/build.h"

namespace anyshape::loop {

Value half_from_bits(Builder& b, Value bits, Dtype half);  // i32, whose upper half is zero -> f32
Value half_to_bits(Builder& b, Value x, Dtype half);       // numbers of any type -> i32, rounded once

}  // namespace anyshape::loop
