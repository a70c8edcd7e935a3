// slice: x, a range per leading axis -> the elements inside; and its gradient, which puts them back among zeros.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/loops.h"
#include "ops/sizes.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

struct SliceAttrs {
  std::vector<Dim> begins;  // one per leading axis
  std::vector<Dim> ends;
  template <class V>
  void visit(V& v) {
    v("begins", begins);
    v("ends", ends);
  }
};

// As in NumPy, a constant bound outside is moved to the nearest end, and a negative one counts from the end.
Dim clamped(const Dim& bound, const Dim& size) {
  if (!bound.is_constant()) return bound;
  return bound.value() < 0 ? max(size + bound, 0) : min(bound, size);
}

Specs slice_shape(OpCall& call) {
  const SliceAttrs& attrs = call.attrs_as<SliceAttrs>();
  Shape result = call.shape(0);
  if (static_cast<int>(attrs.begins.size()) > result.rank()) {
    call.fail(fmt::format("{} ranges for {} axes", attrs.begins.size(), result.rank()), "at most one range per axis");
  }
  for (int axis = 0; axis < static_cast<int>(attrs.begins.size()); ++axis) {
    const Dim &begin = attrs.begins[axis], &end = attrs.ends[axis];
    const std::string what = fmt::format("range {}:{} along axis {}", to_string(begin), to_string(end), axis);
    constexpr std::string_view rule = "0 <= begin <= end <= the axis's size";
    call.require({Relation::LessEqual, 0, begin}, what, rule);
    call.require({Relation::LessEqual, begin, end}, what, rule);
    call.require({Relation::LessEqual, end, result[axis]}, what, rule);
    result[axis] = end - begin;
  }
  return {{call.inputs[0].dtype, std::move(result), {}}};
}

loop::Value slice_element(ElementCall& call) {
  const SliceAttrs& attrs = call.call.attrs_as<SliceAttrs>();
  std::vector<loop::Value> index(call.index.begin(), call.index.end());
  for (size_t axis = 0; axis < attrs.begins.size(); ++axis) index[axis] = call.b.add(index[axis], call.size(attrs.begins[axis]));
  return call.input(0, index);
}

struct SliceGradientAttrs {
  std::vector<Dim> begins;
  Shape shape;  // of what was sliced
  template <class V>
  void visit(V& v) {
    v("begins", begins);
    v("shape", shape);
  }
};

std::vector<Tensor> slice_gradient(const GradientCall& call) {
  return {bind(slice_gradient_op, {call.dys[0]}, SliceGradientAttrs{call.attrs.as<SliceAttrs>().begins, call.inputs[0].shape()})};
}

Specs slice_gradient_shape(OpCall& call) {
  const SliceGradientAttrs& attrs = call.attrs_as<SliceGradientAttrs>();
  if (attrs.shape.rank() != call.shape(0).rank() || static_cast<int>(attrs.begins.size()) > attrs.shape.rank()) {
    call.fail(fmt::format("cannot stand in {}", to_string(attrs.shape)), "a shape of the tensor's rank");
  }
  return {{call.inputs[0].dtype, attrs.shape, {}}};
}

std::vector<Tensor> gradient_of_slice_gradient(const GradientCall& call) {
  const SliceGradientAttrs& attrs = call.attrs.as<SliceGradientAttrs>();
  SliceAttrs slice{attrs.begins, {}};
  for (size_t axis = 0; axis < attrs.begins.size(); ++axis) {
    slice.ends.push_back(attrs.begins[axis] + call.inputs[0].shape()[static_cast<int>(axis)]);
  }
  return {bind(slice_op, {call.dys[0]}, std::move(slice))};
}

void lower_slice_gradient(LowerCall& call) {
  loop::Builder& b = call.b;
  const SliceGradientAttrs& attrs = call.call.attrs_as<SliceGradientAttrs>();
  const Shape &from = call.call.shape(0), &to = call.outputs[0].shape;
  const int rank = from.rank();
  const int32_t source = call.input(0), target = call.output(0);
  fill(b, target, call.size(to.count()), b.constant(call.outputs[0].dtype, int64_t{0}));
  if (rank == 0) return b.store(target, b.integer(0), b.load(source, b.integer(0)));

  std::vector<loop::Value> outer_sizes, target_sizes, begins(rank, b.integer(0));
  for (int axis = 0; axis + 1 < rank; ++axis) outer_sizes.push_back(call.size(from[axis]));
  for (int axis = 0; axis < rank; ++axis) target_sizes.push_back(call.size(to[axis]));
  for (size_t axis = 0; axis < attrs.begins.size(); ++axis) begins[axis] = call.size(attrs.begins[axis]);
  const loop::Value length = call.size(from[rank - 1]);
  for_each_block(b, call.size(count_between(from, 0, rank - 1)), length, [&](loop::Value row, loop::Value begin, loop::Value end) {
    std::vector<loop::Value> index = unravel(b, row, outer_sizes);
    index.push_back(b.integer(0));
    for (int axis = 0; axis < rank; ++axis) index[axis] = b.add(index[axis], begins[axis]);
    const loop::Value to_row = ravel(b, index, target_sizes), from_row = b.multiply(row, length);
    b.vector_for(begin, end, [&](loop::Value i) { b.store(target, b.add(to_row, i), b.load(source, b.add(from_row, i))); });
  });
}

}  // namespace

constinit const OpDef slice_op{.name = "slice",
                               .kind = OpKind::Movement,
                               .inputs = 1,
                               .dtype = dtype_rule::any,
                               .shape = slice_shape,
                               .gradient = slice_gradient,
                               .element = slice_element,
                               .attrs = [] { return Attrs(SliceAttrs{}); }};

constinit const OpDef slice_gradient_op{.name = "slice_gradient",
                                        .kind = OpKind::Movement,
                                        .inputs = 1,
                                        .dtype = dtype_rule::any,
                                        .shape = slice_gradient_shape,
                                        .gradient = gradient_of_slice_gradient,
                                        .lower = lower_slice_gradient,
                                        .attrs = [] { return Attrs(SliceGradientAttrs{}); }};

Tensor slice(const Tensor& x, const std::vector<SliceRange>& ranges) {
  const Shape shape = x.shape();
  SliceAttrs attrs;
  for (size_t axis = 0; axis < ranges.size(); ++axis) {
    const Dim& size =
        static_cast<int>(axis) < shape.rank() ? shape[static_cast<int>(axis)] : Dim(0);  // too many: refused by the shape rule
    const bool both_constant = ranges[axis].begin.is_constant() && (!ranges[axis].end || ranges[axis].end->is_constant());
    const Dim begin = clamped(ranges[axis].begin, size);
    const Dim end = ranges[axis].end ? clamped(*ranges[axis].end, size) : size;
    attrs.begins.push_back(begin);
    attrs.ends.push_back(both_constant ? max(begin, end) : end);  // constant bounds in the wrong order give nothing, as in NumPy
  }
  return bind(slice_op, {x}, std::move(attrs));
}

}  // namespace anyshape
