// prod: x -> elements multiplied along axes. b8 counts in i32; integers wrap; the product of nothing is 1.
#include "graph/dtype_rules.h"
#include "loop/ir.h"
#include "ops/all_ops.h"
#include "ops/ragged/rules.h"
#include "ops/reduce/axes.h"

#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>

#include <algorithm>

namespace anyshape {
namespace {

// For every element the product of all the others along one axis: what stands before it times what stands behind it, so that no zero is
// ever divided by.
Tensor product_of_others(const Tensor& x, int64_t axis) {
  return cumprod(x, {.axis = axis, .exclusive = true}) * cumprod(x, {.axis = axis, .reverse = true, .exclusive = true});
}

// The same along several axes, which are walked as one.
Tensor product_of_others(const Tensor& x, std::vector<int64_t> axes) {
  std::ranges::sort(axes);
  const int64_t first = axes.front(), count = static_cast<int64_t>(axes.size());
  if (count == 1) return product_of_others(x, first);
  std::vector<int64_t> order, inverse(x.rank());  // the named axes side by side, where the first of them stands
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    if (axis == first) order.insert(order.end(), axes.begin(), axes.end());
    if (!std::ranges::binary_search(axes, axis)) order.push_back(axis);
  }
  for (int64_t axis = 0; axis < x.rank(); ++axis) inverse[order[axis]] = axis;
  const bool in_order = std::ranges::is_sorted(order);
  const Tensor moved = in_order ? x : transpose(x, order);
  const Shape shape = moved.shape();
  Shape joined;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis <= first || axis >= first + count)
      joined.push_back(shape[axis]);
    else
      joined[static_cast<int>(first)] = joined[static_cast<int>(first)] * shape[axis];
  }
  const Tensor others = reshape(product_of_others(reshape(moved, joined), first), shape);
  return in_order ? others : transpose(others, inverse);
}

std::vector<Tensor> gradient(const GradientCall& call) {
  const Tensor& x = call.inputs[0];
  const std::vector<int64_t>& axes = call.attrs.as<ReduceAttrs>().axes;
  return {product_of_others(x, axes) * reshape(call.dys[0], kept_shape(x.shape(), axes))};
}

std::vector<Tensor> ragged(const RaggedCall& call) {
  return reduce_ragged(call, {segment::prod, [](Dtype) { return Tensor(1); }});
}

constexpr ReduceRule rule{.combine = loop::Combine::Product, .axes = reduce_fates};

}  // namespace

constinit const OpDef prod_op = reduction("prod", dtype_rule::promoted_number, rule, ragged, gradient);

Tensor prod(const Tensor& x, ReduceOptions options) { return reduced(prod_op, x, options); }

}  // namespace anyshape
