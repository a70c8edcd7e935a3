// Whole numbers of types that stand in a wider dtype: what arithmetic gives is brought back to the bits that the type has.
#pragma once
#include "onnx/value.h"

namespace anyshape::onnx {

// The low bits of x as the type has them: int8 from -128 to 127, whatever the sum was. Other types as they are.
Value wrapped(const Tensor& x, ElementType type);

// uint64 stands in i64 by its bits: numbers of which comparisons and order are right, here and on the way back.
Tensor ordered(const Tensor& x, ElementType type);

Tensor divided(const Tensor& a, const Tensor& b, ElementType type);  // towards 0
Tensor cut_remainder(const Tensor& a, const Tensor& b, ElementType type);  // of that quotient: it has the sign of a

}  // namespace anyshape::onnx
