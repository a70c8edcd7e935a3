// Integers bit by bit, with NumPy's names and broadcasting. The same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/tensor.h>

#pragma GCC visibility push(default)
namespace anyshape {

/// The arguments are promoted to one dtype, which is the result's; floats are a DtypeError. Of b8 they are the logical ones.
///@{
Tensor bitwise_and(const Tensor& a, const Tensor& b);
Tensor bitwise_or(const Tensor& a, const Tensor& b);
Tensor bitwise_xor(const Tensor& a, const Tensor& b);
Tensor bitwise_not(const Tensor& x);
///@}
/// Bits moved by as many places as the second argument says; b8 counts as i32. A count below 0 or beyond the width moves all of them out.
///@{
Tensor left_shift(const Tensor& x, const Tensor& count);
Tensor right_shift(const Tensor& x, const Tensor& count);  ///< of negative integers the sign comes in, as in x / 2^count rounded down
///@}
/// What the same bits are in another dtype: f32 as i32, f64 as i64, and back; others are a DtypeError.
Tensor bitcast(const Tensor& x, Dtype dtype);

}  // namespace anyshape
#pragma GCC visibility pop
