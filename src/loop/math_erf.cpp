// erf: below 1 a polynomial in the square, above it 1 - exp of a polynomial for log(1 - erf), whose error shrinks with the exponential.
#include "loop/math.h"
#include "loop/math_parts.h"
#include "loop/polynomial.h"

namespace anyshape::loop {

Value erf(Builder& b, Value x) {
  format_of(b, x);
  const bool wide = b.type(x) == Dtype::f64;
  const Numbers number(b, x);
  const Value size = b.unary(Op::Absolute, x);
  const Value z = b.multiply(size, size);
  const Value near_tail = wide ? polynomial(b, z,
                                            {0.1283791670955126, -0.37612638903183754, 0.1128379167095512, -0.026866170645129868,
                                             0.005223977625423607, -0.0008548327021955856, 0.00012055332903805769, -1.4925647594312216e-05,
                                             1.6462045977098001e-06, -1.636464950711825e-07, 1.4792469260115766e-08,
                                             -1.2164966464466516e-09, 8.710458306754965e-11, -4.233119360634908e-12})
                               : polynomial(b, z,
                                            {0.128379165913469, -0.3761262713391528, 0.11283600152184307, -0.026854443559987857,
                                             0.005189533342007708, -0.0008020823474507614, 7.889060041374701e-05});
  const Value near = b.fma(size, near_tail, size);
  const Value most = number(wide ? 6 : 4);  // from here on the result is 1
  const Value u = b.subtract(b.select(b.less(most, size), most, size), number(1));
  const Value logarithm =
      wide ? polynomial(b, u, {-1.8496055099332482,    -2.638967514234791,     -0.8431072563585149,     -0.04156109804576116,
                               0.01003382542413915,    -0.001977902940500582,  0.00023732429314248687,  2.6271829950352512e-05,
                               -2.714473658187367e-05, 9.58389535259906e-06,   -2.0274012739270074e-06, 1.1135649261793767e-07,
                               1.2073152651073448e-07, -6.489843571548834e-08, 2.024439866125774e-08,   -4.487661590372507e-09,
                               7.197244782607447e-10,  -7.992529952305071e-11, 5.506845435286382e-12,   -1.7713924815668396e-13})
           : polynomial(b, u,
                        {-1.8496055098307358, -2.63896753059257, -0.8431068507240052, -0.041564788093764723, 0.010050049190336011,
                         -0.0020172111159446793, 0.0002936390220632576, -2.3311751976669234e-05, 2.525827131640109e-07});
  const Value far = b.subtract(number(1), exp(b, logarithm));
  return with_sign_of(b, b.select(b.less(number(1), size), far, near), x);
}

}  // namespace anyshape::loop
