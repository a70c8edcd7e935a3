// Numbers for loops to work on: sines, which neither repeat nor grow.
#pragma once
#include <anyshape/anyshape.h>

namespace anyshape::test {

inline Tensor numbers(const Shape& shape, double step, Dtype dtype = f64) {
  return cast(sin(reshape(cast(arange(shape.count().value()), f64) * step + 0.3, shape)), dtype);
}

}  // namespace anyshape::test
