// take: x, indices -> slices of x along an axis, one per index; and its gradient, which adds them up where they came from.
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

struct TakeAttrs {
  int64_t axis = 0;
  template <class V>
  void visit(V& v) {
    v("axis", axis);
  }
};

Dim take_limit(const OpCall& call) { return call.shape(0)[static_cast<int>(call.attrs_as<TakeAttrs>().axis)]; }

Specs take_shape(OpCall& call) {
  const Shape &x = call.shape(0), &indices = call.shape(1);
  const int along = call.axis(call.attrs_as<TakeAttrs>().axis, x.rank());
  if (x.rank() - 1 + indices.rank() > max_rank) {
    call.fail(fmt::format("the result would have rank {}", x.rank() - 1 + indices.rank()),
              fmt::format("a result of at most rank {}", max_rank));
  }
  Shape result;
  for (int axis = 0; axis < along; ++axis) result.push_back(x[axis]);
  for (const Dim& size : indices) result.push_back(size);
  for (int axis = along + 1; axis < x.rank(); ++axis) result.push_back(x[axis]);
  return {{call.inputs[0].dtype, std::move(result), {}}};
}

// Indices are known to be within -size <= i < size when this runs.
loop::Value wrapped(loop::Builder& b, loop::Value index, loop::Value size) {
  const loop::Value wide = b.cast(index, Dtype::i64);
  return b.select(b.less(wide, b.integer(0)), b.add(wide, size), wide);
}

loop::Value take_element(ElementCall& call) {
  const int along = call.call.axis(call.call.attrs_as<TakeAttrs>().axis, call.call.shape(0).rank());
  const size_t count = call.call.shape(1).rank();
  const loop::Value taken = call.input(1, call.index.subspan(along, count));
  std::vector<loop::Value> index(call.index.begin(), call.index.begin() + along);
  index.push_back(wrapped(call.b, taken, call.size(call.call.shape(0)[along])));
  index.insert(index.end(), call.index.begin() + along + static_cast<std::ptrdiff_t>(count), call.index.end());
  return call.input(0, index);
}

struct TakeGradientAttrs {
  int64_t axis = 0;
  Shape shape;  // of what was taken from
  template <class V>
  void visit(V& v) {
    v("axis", axis);
    v("shape", shape);
  }
};

Dim take_gradient_limit(const OpCall& call) {
  const TakeGradientAttrs& attrs = call.attrs_as<TakeGradientAttrs>();
  return attrs.shape[static_cast<int>(attrs.axis)];
}

std::vector<Tensor> take_gradient(const GradientCall& call) {
  const Shape shape = call.inputs[0].shape();
  return {bind(take_gradient_op, {call.dys[0], call.inputs[1]}, TakeGradientAttrs{call.attrs.as<TakeAttrs>().axis, shape}), {}};
}

Specs take_gradient_shape(OpCall& call) {
  const TakeGradientAttrs& attrs = call.attrs_as<TakeGradientAttrs>();
  static_cast<void>(call.axis(attrs.axis, attrs.shape.rank()));
  if (call.shape(0).rank() != attrs.shape.rank() - 1 + call.shape(1).rank()) {
    call.fail(fmt::format("cannot be added up in {}", to_string(attrs.shape)), "the shape that take gives");
  }
  return {{call.inputs[0].dtype, attrs.shape, {}}};
}

std::vector<Tensor> gradient_of_take_gradient(const GradientCall& call) {
  return {take(call.dys[0], call.inputs[1], {.axis = call.attrs.as<TakeGradientAttrs>().axis}), {}};
}

// Columns go to the pool, rows are added in the order of the indices: the same bits for any number of threads.
void lower_take_gradient(LowerCall& call) {
  constexpr int64_t columns_per_task = 64;
  loop::Builder& b = call.b;
  const TakeGradientAttrs& attrs = call.call.attrs_as<TakeGradientAttrs>();
  const Shape& to = attrs.shape;
  const int along = call.call.axis(attrs.axis, to.rank());
  const loop::Value outer = call.size(count_between(to, 0, along)), inner = call.size(count_between(to, along + 1, to.rank()));
  const loop::Value size = call.size(to[along]), count = call.size(call.call.shape(1).count());
  const int32_t dy = call.input(0), indices = call.input(1), target = call.output(0);
  fill(b, target, call.size(to.count()), b.constant(call.outputs[0].dtype, int64_t{0}));
  const loop::Value blocks = b.ceil_divide(inner, columns_per_task);
  b.parallel_for(b.integer(0), b.multiply(outer, blocks), b.integer(1), [&](loop::Value task) {
    const loop::Value row = b.floor_divide(task, blocks), begin = b.multiply(modulo(b, task, blocks), b.integer(columns_per_task));
    const loop::Value end = b.minimum(b.add(begin, b.integer(columns_per_task)), inner);
    b.serial_for(b.integer(0), count, [&](loop::Value k) {
      const loop::Value from = b.multiply(b.add(b.multiply(row, count), k), inner);
      const loop::Value to_index = wrapped(b, b.load(indices, k), size);
      const loop::Value into = b.multiply(b.add(b.multiply(row, size), to_index), inner);
      b.vector_for(begin, end, [&](loop::Value column) {
        const loop::Value place = b.add(into, column);
        b.store(target, place, b.add(b.load(target, place), b.load(dy, b.add(from, column))));
      });
    });
  });
}

}  // namespace

constinit const OpDef take_op{.name = "take",
                              .kind = OpKind::Index,
                              .inputs = 2,
                              .dtype = dtype_rule::indices_last,
                              .shape = take_shape,
                              .ragged = RaggedPolicy::Values,
                              .gradient = take_gradient,
                              .element = take_element,
                              .whole_inputs = 0b11,
                              .attrs = [] { return Attrs(TakeAttrs{}); },
                              .index_limit = take_limit};

constinit const OpDef take_gradient_op{.name = "take_gradient",
                                       .kind = OpKind::Index,
                                       .inputs = 2,
                                       .dtype = dtype_rule::indices_last,
                                       .shape = take_gradient_shape,
                                       .gradient = gradient_of_take_gradient,
                                       .lower = lower_take_gradient,
                                       .whole_inputs = 0b11,
                                       .attrs = [] { return Attrs(TakeGradientAttrs{}); },
                                       .index_limit = take_gradient_limit};

Tensor take(const Tensor& x, const Tensor& indices, TakeOptions options) { return bind(take_op, {x, indices}, TakeAttrs{options.axis}); }

}  // namespace anyshape
