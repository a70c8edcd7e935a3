// average_pool: x [images, inputs..., channels] -> the mean of the inputs of each window [images, outputs..., channels]. Its gradient gives each input
// its share of the windows that have it, and has average_pool for a gradient.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/image/pool.h"

#include <anyshape/ops/image.h>

namespace anyshape {
namespace {

using loop::Value;

Specs shape(OpCall& call) { return {{call.inputs[0].dtype, require_pool(call, false), {}}}; }
Specs gradient_shape(OpCall& call) { return {{call.inputs[0].dtype, require_pool(call, true), {}}}; }

std::vector<Tensor> gradient(const GradientCall& call) {
  return {bind(average_pool_gradient_op, {call.dys[0]}, wanting(call.attrs.as<PoolAttrs>(), spatial_sizes(call.inputs[0].shape())))};
}
std::vector<Tensor> gradient_of_gradient(const GradientCall& call) {
  return {bind(average_pool_op, {call.dys[0]}, wanting(call.attrs.as<PoolAttrs>(), spatial_sizes(call.inputs[0].shape())))};
}

void lower(LowerCall& call) {
  loop::Builder& b = call.b;
  const Dtype type = call.outputs[0].dtype;
  PoolLoops loops(call, call.call.shape(0), call.outputs[0].shape);
  const Value zero = b.constant(type, int64_t{0});
  loops.for_outputs([&](PoolLoops::Place output, Value channel) -> std::vector<Value> {
    const Value total =
        loops.carry_inputs(output, {&zero, 1}, [&](PoolLoops::Place input, std::span<const Value> sum) -> std::vector<Value> {
          return {b.add(sum[0], loops.load_input(0, input, channel))};
        })[0];
    return {b.divide(total, loops.count_inputs(output, type))};
  });
}

void lower_gradient(LowerCall& call) {
  loop::Builder& b = call.b;
  const Dtype type = call.outputs[0].dtype;
  PoolLoops loops(call, call.outputs[0].shape, call.call.shape(0));
  const Value zero = b.constant(type, int64_t{0});
  loops.for_inputs([&](PoolLoops::Place input, Value channel) {
    return loops.carry_outputs(input, {&zero, 1}, [&](PoolLoops::Place output, std::span<const Value> sum) -> std::vector<Value> {
      return {b.add(sum[0], b.divide(loops.load_output(0, output, channel), loops.count_inputs(output, type)))};
    });
  });
}

constexpr RowRule row_rule{};  // images are apart

}  // namespace

constinit const OpDef average_pool_op{.name = "average_pool",
                                      .kind = OpKind::Opaque,
                                      .inputs = 1,
                                      .dtype = dtype_rule::floating,
                                      .shape = shape,
                                      .gradient = gradient,
                                      .lower = lower,
                                      .rows = &row_rule,
                                      .attrs = [] { return Attrs(PoolAttrs{}); }};

constinit const OpDef average_pool_gradient_op{.name = "average_pool_gradient",
                                               .kind = OpKind::Opaque,
                                               .inputs = 1,
                                               .dtype = dtype_rule::floating,
                                               .shape = gradient_shape,
                                               .gradient = gradient_of_gradient,
                                               .lower = lower_gradient,
                                               .rows = &row_rule,
                                               .attrs = [] { return Attrs(PoolAttrs{}); }};

}  // namespace anyshape
