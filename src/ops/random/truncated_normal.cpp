// random::truncated_normal: the standard normal distribution cut at two deviations, by the inverse of its distribution function: one uniform
// number gives one result and nothing is drawn again, so that elements stay independent of each other.
#include "loop/polynomial.h"
#include "ops/all_ops.h"
#include "ops/random/attrs.h"

#include <numbers>

namespace anyshape {
namespace {

using loop::Builder;
using loop::Value;

// The inverse of the error function for |y| <= 0.96, where one polynomial in -log(1 - y * y) suffices (Giles, 2010). Relative error 1.3e-7
// (f32) and 6e-16 (f64).
Value inverse_error_function(Builder& b, Value y) {
  const Dtype type = b.type(y);
  const Value w = b.unary(loop::Op::Negate, loop::log(b, b.fma(b.unary(loop::Op::Negate, y), y, b.constant(type, 1.0))));
  if (type == Dtype::f32) {
    return b.multiply(y, loop::polynomial(b, b.subtract(w, b.constant(type, 2.5)),
                                          {1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087, -4.39150654e-06,
                                           -3.5233877e-06, 3.43273939e-07, 2.81022636e-08}));
  }
  return b.multiply(
      y, loop::polynomial(b, b.subtract(w, b.constant(type, 3.125)),
                          {1.6536545626831027356,      0.24015818242558961693,     -0.0060336708714301490533,  -0.00074070253416626697512,
                           0.0001867342080340571352,   -1.3882523362786468719e-05, -1.3654692000834678645e-06, 4.2347877827932403518e-07,
                           -2.9070369957882005086e-08, -4.1126339803469836976e-09, 1.051212273321532285e-09,   -5.4154120542946279317e-11,
                           -1.2975133253453532498e-11, 2.6335093153082322977e-12,  -8.1519341976054721522e-14, -4.0545662729752068639e-14,
                           6.6376381343583238325e-15,  2.0972767875968561637e-17,  -1.333171662854620906e-16,  1.115787767802518096e-17,
                           1.2858480715256400167e-18,  -1.685059138182016589e-19,  -3.6444120640178196996e-21}));
}

Value element(ElementCall& call) {
  constexpr double error_function_at_root_two = 0.9544997361036416;
  Builder& b = call.b;
  const Dtype type = call.output.dtype;
  const auto number = [&](double value) { return b.constant(type, value); };
  // Half a spacing is added to the uniform number, which makes the result as often negative as positive.
  const double half_spacing = type == Dtype::f32 ? 0x1p-25 : 0x1p-54;
  const Value uniform = b.add(loop::uniform_from_words(b, random_words(call), type), number(half_spacing));
  const Value y = b.multiply(b.fma(uniform, number(2), number(-1)), number(error_function_at_root_two));
  const Value x = b.multiply(inverse_error_function(b, y), number(std::numbers::sqrt2));
  return b.minimum(b.maximum(x, number(-2)), number(2));
}

}  // namespace

constinit const OpDef truncated_normal_op{
    .name = "random::truncated_normal", .kind = OpKind::Random, .inputs = 0, .shape = random_shape, .element = element, .attrs = [] {
      return Attrs(RandomAttrs{});
    }};

Tensor random::truncated_normal(const Shape& shape, NormalOptions options) { return draw_normal(truncated_normal_op, shape, options); }

}  // namespace anyshape
