// max_pool: x [images, inputs..., channels] -> y [images, outputs..., channels] and, as i32, the pixel of its image that each comes from. Of equal ones
// the first counts; a NaN is greater than all numbers. Its gradient goes to those pixels, and what a gradient's gradient wants is picked from them.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/image/pool.h"

#include <anyshape/ops/image.h>

#include <limits>

namespace anyshape {
namespace {

using loop::Op;
using loop::Value;

Specs shape(OpCall& call) {
  const Shape result = require_pool(call, false);
  Dim pixels = 1;
  for (const Dim& size : spatial_sizes(call.shape(0))) pixels = pixels * size;
  call.require({Relation::LessEqual, pixels, std::numeric_limits<int32_t>::max()}, "an image is too large for i32 indices",
               "at most 2147483647 pixels");
  return {{call.inputs[0].dtype, result, {}}, {Dtype::i32, result, {}}};
}

std::vector<Tensor> gradient(const GradientCall& call) {
  return {bind(max_pool_gradient_op, {call.dys[0], call.outputs[1]},
               wanting(call.attrs.as<PoolAttrs>(), spatial_sizes(call.inputs[0].shape())))};
}

Value lowest(loop::Builder& b, Dtype type) {
  if (is_floating(type)) return b.constant(type, -std::numeric_limits<double>::infinity());
  if (type == Dtype::u8) return b.constant(type, int64_t{0});
  return b.constant(type, type == Dtype::i32 ? int64_t{std::numeric_limits<int32_t>::min()} : std::numeric_limits<int64_t>::min());
}

Value is_greater(loop::Builder& b, Value x, Value best) {
  const Value more = b.less(best, x);
  if (!is_floating(b.type(x))) return more;
  const Value appears = b.binary(Op::And, b.binary(Op::NotEqual, x, x), b.equal(best, best));
  return b.binary(Op::Or, more, appears);
}

void lower(LowerCall& call) {
  loop::Builder& b = call.b;
  PoolLoops loops(call, call.call.shape(0), call.outputs[0].shape);
  loops.for_outputs([&](PoolLoops::Place output, Value channel) {
    const Value initial[] = {lowest(b, call.outputs[0].dtype), loops.first_input(output)};
    return loops.carry_inputs(output, initial, [&](PoolLoops::Place input, std::span<const Value> best) -> std::vector<Value> {
      const Value x = loops.load_input(0, input, channel), greater = is_greater(b, x, best[0]);
      return {b.select(greater, x, best[0]), b.select(greater, loops.input_number(input), best[1])};
    });
  });
}

// dy, pixels -> dx: each input takes what windows around it have to give to it.
Specs gradient_shape(OpCall& call) {
  const Shape result = require_pool(call, true);
  require_pixels(call, call.shape(0));
  return {{call.inputs[0].dtype, result, {}}};
}

std::vector<Tensor> gradient_of_gradient(const GradientCall& call) {
  const Tensor &dy = call.inputs[0], &pixels = call.inputs[1];
  return {bind(max_pool_pick_op, {call.dys[0], pixels}, wanting(call.attrs.as<PoolAttrs>(), spatial_sizes(dy.shape()))), Tensor()};
}

void lower_gradient(LowerCall& call) {
  loop::Builder& b = call.b;
  PoolLoops loops(call, call.outputs[0].shape, call.call.shape(0));
  const Value zero = b.constant(call.outputs[0].dtype, int64_t{0});
  loops.for_inputs([&](PoolLoops::Place input, Value channel) {
    const Value own = loops.input_number(input);
    return loops.carry_outputs(input, {&zero, 1}, [&](PoolLoops::Place output, std::span<const Value> sum) -> std::vector<Value> {
      const Value is_own = b.equal(loops.load_output(1, output, channel), own);
      return {b.add(sum[0], b.select(is_own, loops.load_output(0, output, channel), zero))};
    });
  });
}

// x, pixels -> x at those pixels, which lie in their windows.
Specs pick_shape(OpCall& call) {
  const Shape result = require_pool(call, false);
  require_pixels(call, result);
  return {{call.inputs[0].dtype, result, {}}};
}

std::vector<Tensor> gradient_of_pick(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &pixels = call.inputs[1];
  return {bind(max_pool_gradient_op, {call.dys[0], pixels}, wanting(call.attrs.as<PoolAttrs>(), spatial_sizes(x.shape()))), Tensor()};
}

void lower_pick(LowerCall& call) {
  loop::Builder& b = call.b;
  PoolLoops loops(call, call.call.shape(0), call.outputs[0].shape);
  const Value zero = b.constant(call.outputs[0].dtype, int64_t{0});
  loops.for_outputs([&](PoolLoops::Place output, Value channel) {
    const Value pixel = loops.load_output(1, output, channel);
    return loops.carry_inputs(output, {&zero, 1}, [&](PoolLoops::Place input, std::span<const Value> found) -> std::vector<Value> {
      const Value is_it = b.equal(pixel, loops.input_number(input));
      return {b.select(is_it, loops.load_input(0, input, channel), found[0])};
    });
  });
}

// A number and the pixel that it belongs to.
void number_and_pixels(std::string_view, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  wanted[0] = inputs[0].dtype;
  wanted[1] = Dtype::i32;
}

constexpr RowRule row_rule{}, row_rule_of_both{.inputs = RowRule::Inputs::All};  // images are apart

}  // namespace

constinit const OpDef max_pool_op{.name = "max_pool",
                                  .kind = OpKind::Opaque,
                                  .inputs = 1,
                                  .dtype = dtype_rule::promoted_number,
                                  .shape = shape,
                                  .gradient = gradient,
                                  .lower = lower,
                                  .rows = &row_rule,
                                  .attrs = [] { return Attrs(PoolAttrs{}); }};

constinit const OpDef max_pool_gradient_op{.name = "max_pool_gradient",
                                           .kind = OpKind::Opaque,
                                           .inputs = 2,
                                           .dtype = number_and_pixels,
                                           .shape = gradient_shape,
                                           .gradient = gradient_of_gradient,
                                           .lower = lower_gradient,
                                           .rows = &row_rule_of_both,
                                           .attrs = [] { return Attrs(PoolAttrs{}); }};

constinit const OpDef max_pool_pick_op{.name = "max_pool_pick",
                                       .kind = OpKind::Opaque,
                                       .inputs = 2,
                                       .dtype = number_and_pixels,
                                       .shape = pick_shape,
                                       .gradient = gradient_of_pick,
                                       .lower = lower_pick,
                                       .rows = &row_rule_of_both,
                                       .attrs = [] { return Attrs(PoolAttrs{}); }};

}  // namespace anyshape
