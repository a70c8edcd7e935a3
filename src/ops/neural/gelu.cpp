// gelu: x -> x times the chance of a normal number below x, by erf or nearly so by tanh. One op, so that the gradient needs x alone: what
// erf or tanh gave is cheaper to compute again than to keep.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "loop/math.h"

#include <anyshape/ops.h>

namespace anyshape {
namespace {

constexpr double root_of_half = 0.70710678118654752, root_of_two_over_pi = 0.79788456080286536, cubic = 0.044715;

struct GeluAttrs {
  bool approximate = false;
  template <class V>
  void visit(V& v) {
    v("approximate", approximate);
  }
};

Specs shape(OpCall& call) { return {call.inputs[0]}; }

loop::Value element(ElementCall& call) {
  loop::Builder& b = call.b;
  const loop::Value x = call.operand(0);
  const auto number = [&](double value) { return b.constant(b.type(x), value); };
  loop::Value inner;
  if (call.call.attrs_as<GeluAttrs>().approximate) {
    // As the gradient's ops say it, so that a loop with both has one tanh.
    const loop::Value bent = b.add(x, b.multiply(b.multiply(number(cubic), b.multiply(x, x)), x));
    inner = loop::tanh(b, b.multiply(number(root_of_two_over_pi), bent));
  } else {
    inner = loop::erf(b, b.multiply(x, number(root_of_half)));
  }
  return b.multiply(b.multiply(number(0.5), x), b.add(number(1), inner));
}

std::vector<Tensor> gradient(const GradientCall& call) {
  const Dtype type = call.inputs[0].dtype(), computed = is_half(type) ? Dtype::f32 : type;
  const Tensor x = cast(call.inputs[0], computed), dy = cast(call.dys[0], computed), square = x * x;
  Tensor slope;
  if (call.attrs.as<GeluAttrs>().approximate) {
    const Tensor inner = tanh(root_of_two_over_pi * (x + cubic * square * x));
    // Far out the bend is 0 times a square that must not be infinite.
    const Tensor steepness = 1 + (3 * cubic) * minimum(square, 1e6);
    slope = 0.5 * (1 + inner) + (0.5 * root_of_two_over_pi) * x * (1 - inner * inner) * steepness;
  } else {
    slope = 0.5 * (1 + erf(x * root_of_half)) + (0.5 * root_of_two_over_pi) * x * exp(-0.5 * square);
  }
  return {cast(dy * slope, type)};
}

}  // namespace

extern constinit const OpDef gelu_op{.name = "gelu",
                                     .kind = OpKind::Elementwise,
                                     .inputs = 1,
                                     .dtype = dtype_rule::floating,
                                     .shape = shape,
                                     .ragged = RaggedPolicy::Values,
                                     .gradient = gradient,
                                     .element = element,
                                     .attrs = [] { return Attrs(GeluAttrs{}); }};

Tensor gelu(const Tensor& x) { return gelu(x, {}); }
Tensor gelu(const Tensor& x, GeluOptions options) { return bind(gelu_op, {x}, GeluAttrs{options.approximate}); }

}  // namespace anyshape
