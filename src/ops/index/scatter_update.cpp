// scatter_update: x, updates, indices [..., components] -> x, in which each update has replaced, or been combined with, the part that its
// index names.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "loop/element.h"
#include "ops/index/along_axis.h"
#include "ops/sizes.h"
#include "tensor/half.h"

#include <anyshape/ops.h>
#include <anyshape/ops/scatter.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

struct ScatterUpdateAttrs {
  int64_t components = 1;
  int64_t mode = 0;  // a ScatterMode
  template <class V>
  void visit(V& v) {
    v("components", components);
    v("mode", mode);
  }
};

constexpr auto modes = static_cast<int64_t>(ScatterMode::Maximum) + 1;

void x_then_indices(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  dtype_rule::indices_last(op, inputs, wanted);
  wanted[1] = wanted[0];
}

IndexRule indices_of(const OpCall& call) {
  const Shape& x = call.shape(0);
  return {{x.begin(), x.begin() + call.attrs_as<ScatterUpdateAttrs>().components}};
}

Specs shape(OpCall& call) {
  const ScatterUpdateAttrs& attrs = call.attrs_as<ScatterUpdateAttrs>();
  const Shape &x = call.shape(0), &updates = call.shape(1), &indices = call.shape(2);
  if (attrs.mode < 0 || attrs.mode >= modes) {
    call.fail_argument(fmt::format("the mode is {}", attrs.mode), fmt::format("one of 0 to {}", modes - 1));
  }
  if (attrs.mode != 0 && call.inputs[0].dtype == Dtype::b8) call.fail_dtype("truth values are not combined", "numbers");
  if (attrs.components < 1 || attrs.components > x.rank()) {
    call.fail(fmt::format("an index has {} components for rank {}", attrs.components, x.rank()), "1 <= components <= rank");
  }
  const int leading = indices.rank() - 1, components = static_cast<int>(attrs.components);
  constexpr std::string_view what = "updates do not fit the indices and x", rule = "updates.shape == indices.shape[:-1] + x.shape[components:]";
  if (leading < 0 || updates.rank() != leading + x.rank() - components) call.fail(what, rule);
  call.require({Relation::Equal, indices[-1], attrs.components}, "indices have another number of components", rule);
  for (int axis = 0; axis < updates.rank(); ++axis) {
    const Dim& wanted = axis < leading ? indices[axis] : x[axis - leading + components];
    call.require({Relation::Equal, updates[axis], wanted}, what, rule);
  }
  return {call.inputs[0]};
}

loop::Value combined(loop::Builder& b, ScatterMode mode, loop::Value old, loop::Value update) {
  switch (mode) {
    case ScatterMode::Set: return update;
    case ScatterMode::Add: return b.add(old, update);
    case ScatterMode::Multiply: return b.multiply(old, update);
    case ScatterMode::Minimum: return b.minimum(old, update);
    case ScatterMode::Maximum: return b.maximum(old, update);
  }
  return update;
}

// A copy of x; then the updates one after the other, each at the row-major number of its index. What lies beside each other within an update
// runs side by side.
void lower(LowerCall& call) {
  loop::Builder& b = call.b;
  const ScatterUpdateAttrs& attrs = call.call.attrs_as<ScatterUpdateAttrs>();
  const Shape &x_shape = call.call.shape(0), &indices_shape = call.call.shape(2);
  const int components = static_cast<int>(attrs.components);
  const int32_t x = call.input(0), updates = call.input(1), indices = call.input(2), result = call.output(0);
  b.ranges(call.size(x_shape.count()), b.integer(1), loop::Walk::Once, [&](loop::Value begin, loop::Value end) {
    b.elements(begin, end, [&](loop::Value i) { b.store(result, i, b.load(x, i)); });
  });
  const loop::Value count = call.size(count_between(indices_shape, 0, indices_shape.rank() - 1));
  const loop::Value width = call.size(count_between(x_shape, components, x_shape.rank()));
  b.ranges(width, b.multiply(count, b.integer(4)), loop::Walk::Scattered, [&](loop::Value begin, loop::Value end) {
    b.serial_for(b.integer(0), count, [&](loop::Value k) {
      loop::Value row = b.integer(0);
      for (int component = 0; component < components; ++component) {
        const loop::Value size = call.size(x_shape[component]);
        const loop::Value index = b.load(indices, b.add(b.multiply(k, b.integer(components)), b.integer(component)));
        row = b.add(b.multiply(row, size), wrapped_index(b, index, size));
      }
      const loop::Value to = b.multiply(row, width), from = b.multiply(k, width);
      b.elements(begin, end, [&](loop::Value column) {
        const loop::Value offset = b.add(to, column);
        b.store(result, offset,
                combined(b, static_cast<ScatterMode>(attrs.mode), b.load(result, offset), b.load(updates, b.add(from, column))));
      });
    });
  });
}

// Per update whether it is the last one of its index, with axes of size 1 for those of x that an update spans.
Tensor is_last(const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t components) {
  Shape leading, rows;
  for (int axis = 0; axis + 1 < indices.rank(); ++axis) leading.push_back(indices.shape()[axis]);
  for (int64_t axis = 0; axis < components; ++axis) rows.push_back(x.shape()[static_cast<int>(axis)]);
  const Tensor number = reshape(arange(leading.count(), {.dtype = Dtype::i64}), leading);
  const Tensor last = gather_nd(scatter_update(zeros(rows, {.dtype = Dtype::i64}), indices, number), indices);
  Shape result = leading;
  while (result.rank() < updates.rank()) result.push_back(1);
  return reshape(last == number, result);
}

// Elements that have the extreme share its gradient.
std::vector<Tensor> gradient_of_extreme(const Tensor& x, const Tensor& updates, const Tensor& indices, const Tensor& y, const Tensor& dy) {
  const Tensor kept = cast(x == y, dy.dtype()), met = cast(updates == gather_nd(y, indices), dy.dtype());
  const Tensor share = dy / scatter_update(kept, indices, met, {.mode = ScatterMode::Add});
  return {share * kept, gather_nd(share, indices) * met, {}};
}

// An update's factor is the product of all others of its element: of those that are not 0, unless two are.
std::vector<Tensor> gradient_of_product(const Tensor& x, const Tensor& updates, const Tensor& indices, const Tensor& dy) {
  const auto product = [&](const Tensor& of, const Tensor& by) {
    return scatter_update(of, indices, by, {.mode = ScatterMode::Multiply});
  };
  const Tensor is_zero = updates == 0, factors = where(is_zero, 1, updates);
  const Tensor zeros_met = gather_nd(
      scatter_update(zeros_like(x, {.dtype = Dtype::i32}), indices, cast(is_zero, Dtype::i32), {.mode = ScatterMode::Add}), indices);
  const Tensor others = gather_nd(dy * product(x, factors), indices) / factors;
  return {dy * product(ones_like(x), updates), where(zeros_met == cast(is_zero, Dtype::i32), others, 0), {}};
}

std::vector<Tensor> gradient(const GradientCall& call) {
  const ScatterUpdateAttrs& attrs = call.attrs.as<ScatterUpdateAttrs>();
  const Tensor &x = call.inputs[0], &updates = call.inputs[1], &indices = call.inputs[2], &dy = call.dys[0];
  switch (static_cast<ScatterMode>(attrs.mode)) {
    case ScatterMode::Set:
      return {scatter_update(dy, indices, zeros_like(updates)),
              where(is_last(x, indices, updates, attrs.components), gather_nd(dy, indices), 0),
              {}};
    case ScatterMode::Add: return {dy, gather_nd(dy, indices), {}};
    case ScatterMode::Multiply: return gradient_of_product(x, updates, indices, dy);
    default: return gradient_of_extreme(x, updates, indices, call.outputs[0], dy);
  }
}

}  // namespace

extern constinit const OpDef scatter_update_op{.name = "scatter_update",
                                               .kind = OpKind::Index,
                                               .inputs = 3,
                                               .dtype = x_then_indices,
                                               .shape = shape,
                                               .gradient = gradient,
                                               .lower = lower,
                                               .whole_inputs = 0b111,
                                               .attrs = [] { return Attrs(ScatterUpdateAttrs{}); },
                                               .index_rule = indices_of};

Tensor scatter_update(const Tensor& x, const Tensor& indices, const Tensor& updates, ScatterUpdateOptions options) {
  const NamedCall call("scatter_update", x, indices, updates);
  if (indices.rank() == 0) call.fail("indices are a scalar", "at least one axis, the last with one component per axis that is indexed");
  // Ranks depend on the number of components, so a trace holds for one such size.
  const ScatterUpdateAttrs attrs{indices.shape()[-1].specialize(), static_cast<int64_t>(options.mode)};
  // Halves: one rounding, after everything has been combined.
  const bool widens = is_half(x.dtype()) && (options.mode == ScatterMode::Add || options.mode == ScatterMode::Multiply);
  if (!widens) return bind(scatter_update_op, {x, updates, indices}, attrs);
  return cast(bind(scatter_update_op, {cast(x, Dtype::f32), cast(updates, Dtype::f32), indices}, attrs), x.dtype());
}

}  // namespace anyshape
