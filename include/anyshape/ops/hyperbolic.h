// The inverses of the hyperbolic functions, of floats; integers are taken as f32. The same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/tensor.h>

#pragma GCC visibility push(default)
namespace anyshape {

Tensor asinh(const Tensor& x);  ///< the number whose sinh is x
Tensor acosh(const Tensor& x);  ///< the number of at least 0 whose cosh is x; below 1 NaN
Tensor atanh(const Tensor& x);  ///< the number whose tanh is x; -1 and 1 give infinities, what is beyond NaN

}  // namespace anyshape
#pragma GCC visibility pop
