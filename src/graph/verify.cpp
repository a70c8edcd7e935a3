// The rules every graph keeps: values are made before they are used, and every spec is what the op's own rules give.
#include "graph/graph.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <unordered_set>

namespace anyshape::graph {

void verify(const Graph& graph) {
  std::unordered_set<const Value*> made(graph.inputs().begin(), graph.inputs().end());
  auto refuse = [&](const Node* node, const std::string& what) {
    throw InternalError(
        fmt::format("graph \"{}\": {} {}\n{}", graph.name, node != nullptr ? node->op->name : "return", what, print(graph)));
  };
  for (const Node* node : graph.nodes()) {
    const OpDef& op = *node->op;
    if (op.inputs >= 0 && node->inputs.size() != static_cast<size_t>(op.inputs))
      refuse(node, fmt::format("has {} inputs", node->inputs.size()));
    std::vector<TensorSpec> specs;
    for (const Value* input : node->inputs) {
      if (!made.contains(input)) refuse(node, fmt::format("reads %{} before it is made", input->id));
      specs.push_back(input->spec);
    }
    OpCall call(op, specs, node->attrs);
    const Specs expected = op.shape(call);
    if (expected.size() != node->outputs.size()) refuse(node, "has the wrong number of outputs");
    for (size_t i = 0; i < expected.size(); ++i) {
      const TensorSpec& spec = node->outputs[i]->spec;
      const bool fits = spec.dtype == expected[i].dtype && spec.shape.rank() == expected[i].shape.rank();
      if (!fits) refuse(node, fmt::format("gives {} but its rule says {}", to_string(spec), to_string(expected[i])));
      made.insert(node->outputs[i]);
    }
  }
  for (const Value* output : graph.outputs) {
    if (!made.contains(output)) refuse(nullptr, fmt::format("names %{}, which nothing makes", output->id));
  }
}

}  // namespace anyshape::graph
