// Polynomials as chains of fused multiply-adds: the core of every function in loop/math.h and of the normal distribution.
#pragma once
#include <initializer_list>
#include <iterator>

#include "loop/build.h"

namespace anyshape::loop {

// Horner's scheme; coefficients from the constant term upwards, rounded to the type of x.
inline Value polynomial(Builder& b, Value x, std::initializer_list<double> coefficients) {
  auto next = std::rbegin(coefficients);
  Value sum = b.constant(b.type(x), *next++);
  for (; next != std::rend(coefficients); ++next) sum = b.fma(sum, x, b.constant(b.type(x), *next));
  return sum;
}

}  // namespace anyshape::loop
