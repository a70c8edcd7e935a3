// Regions are found by a visitor, as every field of attributes is.
#include "graph/regions.h"

#include <unordered_map>

namespace anyshape::graph {
namespace {

class RegionCollector final : public AttrVisitor {
 public:
  using AttrVisitor::operator();
  void operator()(std::string_view name, RegionGraph& field) override { regions.push_back({name, field}); }
  std::vector<NamedRegion> regions;
};

class RegionCloner final : public AttrVisitor {
 public:
  using AttrVisitor::operator();
  void operator()(std::string_view, RegionGraph& field) override { field = clone(*field); }
};

}  // namespace

std::vector<NamedRegion> regions_of(const Attrs& attrs) {
  RegionCollector collector;
  attrs.visit(collector);
  return std::move(collector.regions);
}

Attrs with_cloned_regions(const Attrs& attrs) {
  RegionCloner cloner;
  return attrs.rewritten(cloner);
}

RegionGraph clone(const Graph& graph) {
  auto copy = std::make_shared<Graph>();
  std::unordered_map<const Value*, Value*> values;
  std::unordered_map<const Node*, const Node*> makers;  // of sizes
  copy->name = graph.name;
  for (const Value* input : graph.inputs()) {
    values[input] = copy->add_input(input->spec);
    copy->number(values[input], input->id);
  }
  for (const Node* node : graph.nodes()) {
    std::vector<Value*> inputs;
    std::vector<TensorSpec> outputs;
    for (const Value* input : node->inputs) inputs.push_back(values.at(input));
    for (const Value* output : node->outputs) outputs.push_back(output->spec);
    Node* const made = copy->add_node(*node->op, std::move(inputs), with_cloned_regions(node->attrs), outputs,
                                      node->made ? std::optional(*node->made) : std::nullopt);
    made->place = node->place;
    if (node->made) makers[node] = made;
    for (size_t i = 0; i < outputs.size(); ++i) {
      values[node->outputs[i]] = made->outputs[i];
      copy->number(made->outputs[i], node->outputs[i]->id);
    }
  }
  for (const Value* output : graph.outputs) copy->outputs.push_back(values.at(output));
  copy->checks = graph.checks;
  for (Check& check : copy->checks) {
    if (check.after != nullptr) check.after = makers.at(check.after);
  }
  return copy;
}

size_t count_nodes(const Graph& graph) {
  size_t count = graph.nodes().size();
  for (const Node* node : graph.nodes()) {
    for (const NamedRegion& region : regions_of(*node)) count += count_nodes(*region.graph);
  }
  return count;
}

}  // namespace anyshape::graph
