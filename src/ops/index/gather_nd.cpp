// gather_nd: x, indices [..., components] -> the part of x that each index of the leading axes names; scatter: the reverse, which adds.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/index/along_axis.h"
#include "ops/loops.h"
#include "ops/sizes.h"
#include "tensor/half.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

// How many leading axes an index names: the size of the indices' last axis. Ranks depend on it, so a trace holds for one such size.
int64_t components_of(const NamedCall& call, const Tensor& indices) {
  if (indices.rank() == 0) call.fail("indices are a scalar", "at least one axis, the last with one component per axis that is indexed");
  return indices.shape()[-1].specialize();
}

void require_components(const OpCall& call, int64_t components, int rank) {
  if (components >= 1 && components <= rank) return;
  call.fail(fmt::format("an index has {} components for rank {}", components, rank), "1 <= components <= rank");
}

struct GatherAttrs {
  int64_t components = 1;
  template <class V>
  void visit(V& v) {
    v("components", components);
  }
};

std::vector<Dim> leading(const Shape& shape, int64_t count) { return {shape.begin(), shape.begin() + count}; }

IndexRule gather_indices(const OpCall& call) { return {leading(call.shape(0), call.attrs_as<GatherAttrs>().components)}; }

Specs gather_shape(OpCall& call) {
  const Shape &x = call.shape(0), &indices = call.shape(1);
  const int64_t components = call.attrs_as<GatherAttrs>().components;
  require_components(call, components, x.rank());
  const int64_t rank = indices.rank() - 1 + x.rank() - components;
  if (rank > max_rank) call.fail(fmt::format("the result would have rank {}", rank), fmt::format("a result of at most rank {}", max_rank));
  Shape result;
  for (int axis = 0; axis + 1 < indices.rank(); ++axis) result.push_back(indices[axis]);
  for (int axis = static_cast<int>(components); axis < x.rank(); ++axis) result.push_back(x[axis]);
  return {{call.inputs[0].dtype, std::move(result), {}}};
}

loop::Value gather_element(ElementCall& call) {
  const auto leading_axes = static_cast<size_t>(call.call.shape(1).rank()) - 1;
  std::vector<loop::Value> at(call.index.begin(), call.index.begin() + static_cast<std::ptrdiff_t>(leading_axes)), index;
  at.emplace_back();
  for (int64_t component = 0; component < call.call.attrs_as<GatherAttrs>().components; ++component) {
    at.back() = call.b.integer(component);
    index.push_back(wrapped_index(call.b, call.input(1, at), call.size(call.call.shape(0)[static_cast<int>(component)])));
  }
  for (const loop::Value rest : call.index.subspan(leading_axes)) index.push_back(rest);
  return call.input(0, index);
}

std::vector<Tensor> gather_gradient(const GradientCall& call) { return {scatter(call.inputs[1], call.dys[0], call.inputs[0].shape()), {}}; }

struct ScatterAttrs {
  int64_t components = 1;
  Shape shape;
  template <class V>
  void visit(V& v) {
    v("components", components);
    v("shape", shape);
  }
};

void number_then_indices(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  dtype_rule::indices_last(op, inputs, wanted);
  if (wanted[0] == Dtype::b8) wanted[0] = Dtype::i32;
}

IndexRule scatter_indices(const OpCall& call) {
  const ScatterAttrs& attrs = call.attrs_as<ScatterAttrs>();
  return {leading(attrs.shape, attrs.components)};
}

Specs scatter_shape(OpCall& call) {
  const ScatterAttrs& attrs = call.attrs_as<ScatterAttrs>();
  const Shape &updates = call.shape(0), &indices = call.shape(1), &to = attrs.shape;
  require_sizes(call, to);
  require_components(call, attrs.components, to.rank());
  const int leading_axes = indices.rank() - 1, components = static_cast<int>(attrs.components);
  const std::string what = fmt::format("updates do not fit the indices and {}", to_string(to));
  constexpr std::string_view rule = "updates.shape == indices.shape[:-1] + shape[components:]";
  if (updates.rank() != leading_axes + to.rank() - components) call.fail(what, rule);
  for (int axis = 0; axis < updates.rank(); ++axis) {
    const Dim& wanted = axis < leading_axes ? indices[axis] : to[axis - leading_axes + components];
    call.require({Relation::Equal, updates[axis], wanted}, what, rule);
  }
  return {{call.inputs[0].dtype, to, {}}};
}

std::vector<Tensor> scatter_gradient(const GradientCall& call) { return {gather_nd(call.dys[0], call.inputs[1]), {}}; }

// Rows of the axes behind the components, each added at the row-major number of its index.
void lower_scatter(LowerCall& call) {
  loop::Builder& b = call.b;
  const ScatterAttrs& attrs = call.call.attrs_as<ScatterAttrs>();
  const int components = static_cast<int>(attrs.components), rank = attrs.shape.rank();
  const Shape& indices_shape = call.call.shape(1);
  const Shape rows = {count_between(attrs.shape, 0, components), count_between(attrs.shape, components, rank)};
  const Dim count = count_between(indices_shape, 0, indices_shape.rank() - 1);
  const int32_t indices = call.input(1);
  add_along_axis(call, rows, 0, count, IndexPer::Row, [&](loop::Value, loop::Value k, loop::Value) {
    loop::Value row = b.integer(0);
    for (int component = 0; component < components; ++component) {
      const loop::Value size = call.size(attrs.shape[component]);
      const loop::Value index = b.load(indices, b.add(b.multiply(k, b.integer(components)), b.integer(component)));
      row = b.add(b.multiply(row, size), wrapped_index(b, index, size));
    }
    return row;
  });
}

}  // namespace

constinit const OpDef gather_nd_op{.name = "gather_nd",
                                   .kind = OpKind::Index,
                                   .inputs = 2,
                                   .dtype = dtype_rule::indices_last,
                                   .shape = gather_shape,
                                   .gradient = gather_gradient,
                                   .element = gather_element,
                                   .whole_inputs = 0b11,
                                   .attrs = [] { return Attrs(GatherAttrs{}); },
                                   .index_rule = gather_indices};

constinit const OpDef scatter_op{.name = "scatter",
                                 .kind = OpKind::Index,
                                 .inputs = 2,
                                 .dtype = number_then_indices,
                                 .shape = scatter_shape,
                                 .gradient = scatter_gradient,
                                 .lower = lower_scatter,
                                 .whole_inputs = 0b11,
                                 .attrs = [] { return Attrs(ScatterAttrs{}); },
                                 .index_rule = scatter_indices};

Tensor gather_nd(const Tensor& x, const Tensor& indices) {
  const NamedCall call("gather_nd", x, indices);
  return bind(gather_nd_op, {x, indices}, GatherAttrs{components_of(call, indices)});
}

Tensor scatter(const Tensor& indices, const Tensor& updates, const Shape& shape) {
  const NamedCall call("scatter", indices, updates);
  return bind(scatter_op, {updates, indices}, ScatterAttrs{components_of(call, indices), shape});
}

Tensor scatter_add(const Tensor& x, const Tensor& indices, const Tensor& updates) {
  const NamedCall call("scatter_add", x, indices, updates);
  // Halves: one rounding, after everything has been added.
  if (is_half(x.dtype()) && updates.dtype() == x.dtype()) {
    return cast(scatter_add(cast(x, Dtype::f32), indices, cast(updates, Dtype::f32)), x.dtype());
  }
  return x + scatter(indices, updates, x.shape());
}

}  // namespace anyshape
