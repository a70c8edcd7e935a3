// sum_to: x, a shape that broadcasts to x's -> x summed over what broadcasting would repeat: the gradient of broadcasting.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "loop/ir.h"
#include "ops/all_ops.h"
#include "ops/shape_attrs.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

bool is_proved_equal(const OpCall& call, const Dim& a, const Dim& b) {
  return (call.facts != nullptr ? call.facts->proves_equal(a, b) : proves_equal(a, b)).value_or(false);
}

Specs shape(OpCall& call) {
  const Shape& target = call.attrs_as<ShapeAttrs>().shape;
  const int missing = call.shape(0).rank() - target.rank();
  const std::string what = fmt::format("cannot sum to {}", to_string(target));
  constexpr std::string_view rule = "a shape whose sizes are 1 or the tensor's, aligned at the last axis";
  if (missing < 0) call.fail(what, rule);
  for (int axis = 0; axis < target.rank(); ++axis) {
    const Dim &size = call.shape(0)[axis + missing], &wanted = target[axis];
    if (is_proved_equal(call, size, wanted) || is_proved_equal(call, wanted, 1)) continue;
    // Together: the target's size is the tensor's, or 1.
    call.require({Relation::Broadcastable, wanted, size}, what, rule);
    call.require({Relation::Equal, bcast(wanted, size), size}, what, rule);
  }
  return {{call.inputs[0].dtype, target, {}}};
}

std::vector<AxisFate> fates(const OpCall& call) {
  const Shape& target = call.attrs_as<ShapeAttrs>().shape;
  const int missing = call.shape(0).rank() - target.rank();
  std::vector<AxisFate> result(call.shape(0).rank(), AxisFate::Reduced);
  for (int axis = 0; axis < target.rank(); ++axis) {
    const Dim& size = call.shape(0)[axis + missing];
    if (is_proved_equal(call, size, target[axis]) || is_proved_equal(call, size, 1))
      result[axis + missing] = AxisFate::Kept;
    else if (!is_proved_equal(call, target[axis], 1))
      result[axis + missing] = AxisFate::Open;
  }
  return result;
}

std::vector<Tensor> gradient(const GradientCall& call) { return {broadcast_to(call.dys[0], call.inputs[0].shape())}; }

// An axis of size 1 may be summed or known to stay: the element is the same either way.
constexpr ReduceRule rule{.combine = loop::Combine::SumTo, .axes = fates, .aligned = true};

constexpr RowRule row_rule{.with_rows = shape_with_rows};

}  // namespace

constinit const OpDef sum_to_op{.name = "sum_to",
                                .kind = OpKind::Reduce,
                                .inputs = 1,
                                .dtype = dtype_rule::promoted_number,
                                .shape = shape,
                                .ragged = RaggedPolicy::Refuse,
                                .gradient = gradient,
                                .reduce = &rule,
                                .rows = &row_rule,
                                .attrs = [] { return Attrs(ShapeAttrs{}); },
                                .traits = {.is_identity = always_identity}};

Tensor sum_to(const Tensor& x, const Shape& shape) {
  const NamedCall call("sum_to", x);
  if (x.shape().same_as(shape)) return cast(x, x.dtype() == Dtype::b8 ? Dtype::i32 : x.dtype());
  return bind(sum_to_op, {x}, ShapeAttrs{shape});
}

}  // namespace anyshape
