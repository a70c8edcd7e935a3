// Data-dependent sizes in random graphs. What a mask lets through grows from 0 at its border, so that rounding, which may decide there,
// changes nothing.
#include "check/graph_ops.h"

#include <anyshape/ops.h>

namespace anyshape::check {
namespace {

using Numbers = std::vector<int64_t>;
using In = std::span<const Tensor>;

std::optional<GraphNode> draw_whole(GraphDraft& draft) {
  const std::optional<int> x = draft.value_of_rank(1);
  if (!x) return std::nullopt;
  return GraphNode{0, {*x}, {}, {}};
}

std::optional<GraphNode> draw_rows(GraphDraft& draft) {
  std::optional<GraphNode> node = draw_whole(draft);
  if (!node) return std::nullopt;
  node->result = draft.values[static_cast<size_t>(node->inputs[0])];
  node->result.erase(node->result.begin());
  return node;
}

// The elements above a border: one axis of a data-dependent size, read once and used for a square of it.
Tensor elements_above(In in, const Numbers&) {
  const Tensor above = boolean_mask(in[0], in[0] > 0.37) - 0.37;
  return sum(tanh(above) * above) + sum(expand_dims(above, 0) * expand_dims(tanh(above), 1)) * 0.01;
}

// The rows with a positive weight, and the weights themselves: two results that share one size.
Tensor weighted_rows(In in, const Numbers&) {
  const Tensor& x = in[0];
  std::vector<int64_t> rest;
  for (int axis = 1; axis < x.rank(); ++axis) rest.push_back(axis);
  const Tensor weight = relu((rest.empty() ? tanh(x) : sum(tanh(x), {.axes = rest})) - 0.37), mask = weight > 0;
  Tensor rows = boolean_mask(x, mask), weights = boolean_mask(weight, mask);
  while (weights.rank() < rows.rank()) weights = expand_dims(weights, -1);
  return sum(rows * weights, {.axes = {0}});
}

}  // namespace

std::vector<GraphOp> data_graph_ops() {
  return {{"boolean_mask", draw_whole, elements_above}, {"boolean_mask of rows", draw_rows, weighted_rows}};
}

}  // namespace anyshape::check
