// ONNX's updates of tensors where indices point.
#include "onnx/ops/narrow.h"
#include "onnx/rule.h"

#include <anyshape/ops.h>
#include <anyshape/ops/scatter.h>

#include <fmt/format.h>

namespace anyshape::onnx {
namespace {

ScatterMode mode_of(NodeCall& call) {
  const std::string reduction = call.text("reduction", "none");
  if (reduction == "none") return ScatterMode::Set;
  if (reduction == "add") return ScatterMode::Add;
  if (reduction == "mul") return ScatterMode::Multiply;
  if (reduction == "min") return ScatterMode::Minimum;
  if (reduction == "max") return ScatterMode::Maximum;
  call.fail(fmt::format("reduction is \"{}\"", reduction), "none, add, mul, min or max");
}

Results updated_at(NodeCall& call, const Tensor& indices, const Tensor& updates, ScatterMode mode) {
  const ElementType type = call.type(0);
  const bool is_order = mode == ScatterMode::Minimum || mode == ScatterMode::Maximum;
  const Tensor x = call.tensor(0);
  if (!is_order) return wrapped(scatter_update(x, indices, updates, {.mode = mode}), type);
  return Value(ordered(scatter_update(ordered(x, type), indices, ordered(updates, type), {.mode = mode}), type), type);
}

// The place of each element of a tensor of `shape` along an axis.
Tensor place_along(const Shape& shape, int axis) {
  Shape along;
  for (int each = 0; each < shape.rank(); ++each) along.push_back(each == axis ? shape[axis] : Dim(1));
  return broadcast_to(reshape(arange(shape[axis], {.dtype = i64}), along), shape);
}

// Each update goes where it stands itself, but for the axis.
Tensor whole_indices(const Tensor& along_axis, int64_t axis) {
  std::vector<Tensor> components;
  for (int each = 0; each < along_axis.rank(); ++each) {
    components.push_back(each == axis ? cast(along_axis, i64) : place_along(along_axis.shape(), each));
  }
  return stack(components, {.axis = -1});
}

Results scatter_elements_rule(NodeCall& call) {
  const Tensor indices = call.tensor(1), updates = call.tensor(2);
  const int64_t axis = call.axis(call.integer("axis", 0), call.rank(0));
  if (indices.rank() != call.rank(0) || updates.rank() != call.rank(0)) {
    call.fail(fmt::format("data, indices and updates have ranks {}, {} and {}", call.rank(0), indices.rank(), updates.rank()), "the same rank");
  }
  return updated_at(call, whole_indices(indices, axis), updates, mode_of(call));
}

Results scatter_nd_rule(NodeCall& call) { return updated_at(call, cast(call.tensor(1), i64), call.tensor(2), mode_of(call)); }

// A cache that new elements are written into from an index on, of each row of the batch its own.
Results tensor_scatter_rule(NodeCall& call) {
  const Tensor cache = call.tensor(0), update = call.tensor(1);
  const int64_t axis = call.axis(call.integer("axis", -2), cache.rank());
  if (axis == 0) call.fail("the axis is that of the batch", "another one");
  Tensor place = place_along(update.shape(), static_cast<int>(axis));
  if (call.has(2)) {
    Shape rows{cache.shape()[0]};
    while (rows.rank() < update.rank()) rows.push_back(1);
    place = place + reshape(cast(call.tensor(2), i64), rows);
  }
  const std::string mode = call.text("mode", "linear");
  if (mode == "circular") place = remainder(place, Value::size(cache.shape()[static_cast<int>(axis)]).tensor());
  else if (mode != "linear") call.fail(fmt::format("mode is \"{}\"", mode), "linear or circular");
  return updated_at(call, whole_indices(place, axis), update, ScatterMode::Set);
}

constexpr RuleEntry entries[] = {
    {"Scatter", 9, scatter_elements_rule},
    {"ScatterElements", 11, scatter_elements_rule},
    {"ScatterND", 11, scatter_nd_rule},
    {"TensorScatter", 24, tensor_scatter_rule},
};

}  // namespace

const RuleTable scatter_rules = entries;

}  // namespace anyshape::onnx
