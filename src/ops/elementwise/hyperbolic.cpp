// asinh, acosh, atanh: made of logarithms that are accurate near 0, without squares that overflow.
#include "graph/named_call.h"
#include "ops/numbers.h"

#include <anyshape/ops.h>
#include <anyshape/ops/hyperbolic.h>

namespace anyshape {
namespace {

constexpr double ln2 = 0.6931471805599453;
constexpr double large = 1e9;  // from here on x * x + 1 is x * x, and log(x + x) as near as the dtype has numbers

}  // namespace

// log(x + sqrt(x * x + 1)) for x >= 0, and the same with the other sign.
Tensor asinh(const Tensor& x) {
  const NamedCall call("asinh", x);
  const Tensor number = computable(x), size = abs(number), small = minimum(size, large), square = small * small;
  const Tensor near = log1p(small + square / (1 + sqrt(square + 1)));
  const Tensor result = where(size > large, log(maximum(size, 1)) + ln2, near);
  return result_for(x, where(number < 0, -result, result));
}

// log(x + sqrt(x * x - 1)), of the distance from 1.
Tensor acosh(const Tensor& x) {
  const NamedCall call("acosh", x);
  const Tensor number = computable(x), above = minimum(number, large) - 1;
  const Tensor near = log1p(above + sqrt(above * (above + 2)));
  return result_for(x, where(number > large, log(maximum(number, 1)) + ln2, near));
}

Tensor atanh(const Tensor& x) {
  const NamedCall call("atanh", x);
  const Tensor number = computable(x);
  return result_for(x, 0.5 * (log1p(number) - log1p(-number)));
}

}  // namespace anyshape
