// Regions against the nodes that hold them.
#include "ops/control/region_rules.h"

#include "ops/all_ops.h"

#include <fmt/format.h>

namespace anyshape {

void require_spec(OpCall& call, const std::string& what, const TensorSpec& spec, const TensorSpec& expected) {
  const std::string texts = fmt::format("{} is {} and {}", what, to_string(expected), to_string(spec));
  if (spec.dtype != expected.dtype) call.fail_dtype(texts, "the same dtype");
  if (spec.shape.rank() != expected.shape.rank()) call.fail(texts, "the same rank");
  for (int axis = 0; axis < spec.shape.rank(); ++axis)
    call.require({Relation::Equal, expected.shape[axis], spec.shape[axis]}, texts, "the same shape");
}

void require_inputs(OpCall& call, std::string_view region, const graph::Graph& graph, size_t first, std::span<const TensorSpec> given) {
  if (graph.inputs().size() != first + given.size()) {
    call.fail_argument(fmt::format("region \"{}\" takes {} inputs", region, graph.inputs().size()),
                       fmt::format("{}", first + given.size()));
  }
  for (size_t i = 0; i < given.size(); ++i)
    require_spec(call, fmt::format("input {} of region \"{}\"", first + i, region), graph.inputs()[first + i]->spec, given[i]);
}

std::vector<TensorSpec> specs_of(std::span<const Tensor> tensors) {
  std::vector<TensorSpec> specs;
  for (const Tensor& tensor : tensors) specs.push_back({tensor.dtype(), tensor.shape(), {}});
  return specs;
}

void hand_through(Region& region, const Tensor& tensor) {
  region.graph->outputs.push_back(region.graph->add_input({tensor.dtype(), tensor.shape(), {}}));
  region.captures.push_back(tensor);
}

void settle_result(Region& region, size_t result, Dtype dtype) {
  graph::Value*& output = region.graph->outputs[result];
  const TensorSpec spec{dtype, output->spec.shape, {}};
  output = region.graph->add_node(cast_op, {output}, cast_attrs(dtype), {&spec, 1})->outputs[0];
}

}  // namespace anyshape
