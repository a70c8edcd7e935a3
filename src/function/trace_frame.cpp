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
  impl->become(TracedTensor{id, value, value->spec.shape});
  return Tensor(std::move(impl));
}

namespace {

void simplify(graph::Graph& graph, const Facts& facts, bool goes_into_regions) {
  const auto simplify_value = [&](graph::Value* value) {
    for (int axis = 0; axis < value->spec.shape.rank(); ++axis) value->spec.shape[axis] = facts.simplify(value->spec.shape[axis]);
  };
  for (graph::Value* input : graph.inputs()) simplify_value(input);
  for (graph::Node* node : graph.nodes()) {
    for (graph::Value* output : node->outputs) simplify_value(output);
    node->attrs = node->attrs.map_dims([&](const Dim& dim) { return facts.simplify(dim); });
    if (!goes_into_regions) continue;
    for (const graph::NamedRegion& region : graph::regions_of(*node)) simplify(*region.graph, facts, true);
  }
}

}  // namespace

// A region inside was simplified at its own end, by all that was known around it then.
void TraceFrame::simplify_shapes() const {
  if (!facts.empty()) simplify(*graph, facts, has_learned);
}

}  // namespace anyshape::function_detail
