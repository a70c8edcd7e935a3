// The frame of an elementwise op of one tensor: its scalar in loop instructions and its derivative from g.x, g.y and g.dy.
#pragma once
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "loop/math.h"
#include "ops/all_ops.h"

#include <anyshape/ops.h>

namespace anyshape::unary_op {

struct Gradient {
  const Tensor& x;
  const Tensor& y;
  const Tensor& dy;
};

inline Specs shape(OpCall& call) { return {call.inputs[0]}; }

template <auto scalar, auto derivative>
constexpr OpDef define(std::string_view name, DtypeRule dtype, OpTraits traits = {}) {
  return {
      .name = name,
      .kind = OpKind::Elementwise,
      .inputs = 1,
      .dtype = dtype,
      .shape = shape,
      .ragged = RaggedPolicy::Values,
      .gradient =
          [](const GradientCall& call) { return std::vector<Tensor>{derivative(Gradient{call.inputs[0], call.outputs[0], call.dys[0]})}; },
      .element = [](ElementCall& call) { return scalar(call.b, call.operand(0)); },
      .traits = traits};
}

template <loop::Op op>
loop::Value instruction(loop::Builder& b, loop::Value x) {
  return b.unary(op, x);
}

// Flat everywhere but at jumps.
inline Tensor zero(const Gradient& g) { return zeros(g.x.shape(), {.dtype = g.x.dtype()}); }

}  // namespace anyshape::unary_op
