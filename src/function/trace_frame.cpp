// Tensors on the values of a frame; sizes put in their simplest form at its end.
#include "function/trace_frame.h"

#include "graph/regions.h"
#include "tensor/make_impl.h"
#include "tensor/tensor_impl.h"

namespace anyshape::function_detail {

Tensor TraceFrame::wrap(graph::Value* value) const {
  auto impl = make_impl();
  impl->dtype = value->spec.dtype;
  impl->rank = static_cast<int8_t>(value->spec.shape.rank());
  impl->traced = std::make_unique<TracedTensor>(TracedTensor{id, value, value->spec.shape});
  return Tensor(std::move(impl));
}

void simplify_shapes(graph::Graph& graph, const Facts& facts) {
  auto simplify = [&](graph::Value* value) {
    for (int axis = 0; axis < value->spec.shape.rank(); ++axis) value->spec.shape[axis] = facts.simplify(value->spec.shape[axis]);
  };
  for (graph::Value* input : graph.inputs()) simplify(input);
  for (graph::Node* node : graph.nodes()) {
    for (graph::Value* output : node->outputs) simplify(output);
    node->attrs = node->attrs.map_dims([&](const Dim& dim) { return facts.simplify(dim); });
    for (const graph::NamedRegion& region : graph::regions_of(*node)) simplify_shapes(*region.graph, facts);
  }
}

}  // namespace anyshape::function_detail
