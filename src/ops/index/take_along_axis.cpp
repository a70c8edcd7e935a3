// take_along_axis: x, indices of the same rank -> the element of x at each index along an axis; and its gradient, which adds up.
#include "ops/index/take_along_axis.h"

#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/index/along_axis.h"
#include "ops/sizes.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

struct AlongAttrs {
  int64_t axis = 0;
  template <class V>
  void visit(V& v) {
    v("axis", axis);
  }
};

constexpr std::string_view along_rule = "a.shape == b.shape but for the axis";

IndexRule along_indices(const OpCall& call) { return {{call.shape(0)[static_cast<int>(call.attrs_as<AlongAttrs>().axis)]}}; }

Specs along_shape(OpCall& call) {
  const Shape &x = call.shape(0), &indices = call.shape(1);
  const int along = call.axis(call.attrs_as<AlongAttrs>().axis, x.rank());
  if (indices.rank() != x.rank()) call.fail("ranks differ", along_rule);
  Shape result = x;
  result[along] = indices[along];
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (axis != along) call.require({Relation::Equal, x[axis], indices[axis]}, fmt::format("sizes of axis {} differ", axis), along_rule);
  }
  return {{call.inputs[0].dtype, std::move(result), {}}};
}

loop::Value along_element(ElementCall& call) {
  const int along = call.call.axis(call.call.attrs_as<AlongAttrs>().axis, call.call.shape(0).rank());
  std::vector<loop::Value> index(call.index.begin(), call.index.end());
  index[along] = wrapped_index(call.b, call.input(1, call.index), call.size(call.call.shape(0)[along]));
  return call.input(0, index);
}

std::vector<Tensor> along_gradient(const GradientCall& call) {
  return {take_along_axis_gradient(call.dys[0], call.inputs[1], call.attrs.as<AlongAttrs>().axis, call.inputs[0].shape()), {}};
}

struct AlongGradientAttrs {
  int64_t axis = 0;
  Shape shape;  // of what was taken from
  template <class V>
  void visit(V& v) {
    v("axis", axis);
    v("shape", shape);
  }
};

IndexRule along_gradient_indices(const OpCall& call) {
  const AlongGradientAttrs& attrs = call.attrs_as<AlongGradientAttrs>();
  return {{attrs.shape[static_cast<int>(attrs.axis)]}};
}

Specs along_gradient_shape(OpCall& call) {
  const AlongGradientAttrs& attrs = call.attrs_as<AlongGradientAttrs>();
  const int along = call.axis(attrs.axis, attrs.shape.rank());
  if (call.inputs[0].dtype == Dtype::b8) call.fail_dtype("truth values do not add up", "numbers");
  if (call.shape(0).rank() != attrs.shape.rank() || call.shape(1).rank() != attrs.shape.rank()) {
    call.fail(fmt::format("cannot be added up in {}", to_string(attrs.shape)), "the shape that take_along_axis gives");
  }
  for (int axis = 0; axis < attrs.shape.rank(); ++axis) {
    call.require({Relation::Equal, call.shape(0)[axis], call.shape(1)[axis]}, "shapes differ", "one index per element");
    if (axis != along) call.require({Relation::Equal, call.shape(0)[axis], attrs.shape[axis]}, "shapes differ", along_rule);
  }
  return {{call.inputs[0].dtype, attrs.shape, {}}};
}

std::vector<Tensor> gradient_of_along_gradient(const GradientCall& call) {
  return {take_along_axis(call.dys[0], call.inputs[1], {.axis = call.attrs.as<AlongGradientAttrs>().axis}), {}};
}

void lower_along_gradient(LowerCall& call) {
  loop::Builder& b = call.b;
  const AlongGradientAttrs& attrs = call.call.attrs_as<AlongGradientAttrs>();
  const int along = call.call.axis(attrs.axis, attrs.shape.rank());
  const Dim& count = call.call.shape(1)[along];
  const loop::Value inner = call.size(count_between(attrs.shape, along + 1, attrs.shape.rank())), entries = call.size(count);
  const int32_t indices = call.input(1);
  add_along_axis(call, attrs.shape, along, count, IndexPer::Element, [&](loop::Value row, loop::Value k, loop::Value column) {
    return b.load(indices, b.add(b.multiply(b.add(b.multiply(row, entries), k), inner), column));
  });
}

}  // namespace

constinit const OpDef take_along_axis_op{.name = "take_along_axis",
                                         .kind = OpKind::Index,
                                         .inputs = 2,
                                         .dtype = dtype_rule::indices_last,
                                         .shape = along_shape,
                                         .gradient = along_gradient,
                                         .element = along_element,
                                         .whole_inputs = 0b11,
                                         .attrs = [] { return Attrs(AlongAttrs{}); },
                                         .index_rule = along_indices};

constinit const OpDef take_along_axis_gradient_op{.name = "take_along_axis_gradient",
                                                  .kind = OpKind::Index,
                                                  .inputs = 2,
                                                  .dtype = dtype_rule::indices_last,
                                                  .shape = along_gradient_shape,
                                                  .gradient = gradient_of_along_gradient,
                                                  .lower = lower_along_gradient,
                                                  .whole_inputs = 0b11,
                                                  .attrs = [] { return Attrs(AlongGradientAttrs{}); },
                                                  .index_rule = along_gradient_indices};

Tensor take_along_axis(const Tensor& x, const Tensor& indices, AxisOptions options) {
  return bind(take_along_axis_op, {x, indices}, AlongAttrs{options.axis});
}

Tensor take_along_axis_gradient(const Tensor& dy, const Tensor& indices, int64_t axis, const Shape& shape) {
  return bind(take_along_axis_gradient_op, {dy, indices}, AlongGradientAttrs{axis, shape});
}

}  // namespace anyshape
