// broadcast_to: x -> x repeated along its axes of size 1 and new leading ones.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/shape_attrs.h"
#include "ops/sizes.h"
#include "tensor/view.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <array>

namespace anyshape {
namespace {

Specs shape(OpCall& call) {
  const Shape& target = call.attrs_as<ShapeAttrs>().shape;
  const int added = target.rank() - call.shape(0).rank();
  const std::string what = fmt::format("cannot broadcast to {}", to_string(target));
  constexpr std::string_view rule = "a shape to whose sizes the tensor's are equal, or are 1, aligned at the last axis";
  if (added < 0) call.fail(what, rule);
  require_sizes(call, target);
  for (int axis = 0; axis < call.shape(0).rank(); ++axis) {
    const Dim &size = call.shape(0)[axis], &wanted = target[axis + added];
    if (size.same_as(1) || size.same_as(wanted)) continue;
    // Together: the tensor's size is the target's, or 1.
    call.require({Relation::Broadcastable, size, wanted}, what, rule);
    call.require({Relation::Equal, bcast(size, wanted), wanted}, what, rule);
  }
  return {{call.inputs[0].dtype, target, {}}};
}

std::vector<Tensor> gradient(const GradientCall& call) { return {sum_to(call.dys[0], call.inputs[0].shape())}; }

Tensor view(std::span<const Tensor> inputs, const Attrs&, const TensorSpec& output) {
  std::array<int64_t, max_rank> sizes{};
  for (int axis = 0; axis < output.shape.rank(); ++axis) sizes[axis] = output.shape[axis].value();
  return broadcast_view(inputs[0], {sizes.data(), static_cast<size_t>(output.shape.rank())});
}

constexpr RowRule row_rule{.inputs = RowRule::Inputs::Broadcast, .with_rows = shape_with_rows};

}  // namespace

constinit const OpDef broadcast_to_op{.name = "broadcast_to",
                                      .kind = OpKind::Movement,
                                      .inputs = 1,
                                      .dtype = dtype_rule::any,
                                      .shape = shape,
                                      .gradient = gradient,
                                      .element = [](ElementCall& call) { return call.operand(0); },
                                      .rows = &row_rule,
                                      .view = view,
                                      .attrs = [] { return Attrs(ShapeAttrs{}); },
                                      .traits = {.keeps_elements = true, .is_identity = always_identity}};

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  const NamedCall call("broadcast_to", x);
  if (x.shape().same_as(shape)) return cast(x, x.dtype());
  return bind(broadcast_to_op, {x}, ShapeAttrs{shape});
}

}  // namespace anyshape
