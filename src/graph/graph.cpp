// Graph building and its text form.
#include "graph/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace anyshape::graph {

Value* Graph::new_value(TensorSpec spec, Node* node, int index) {
  values_.push_back({std::move(spec), node, index, static_cast<int>(values_.size())});
  return &values_.back();
}

Value* Graph::add_input(TensorSpec spec) {
  inputs_.push_back(new_value(std::move(spec), nullptr, static_cast<int>(inputs_.size())));
  return inputs_.back();
}

Node* Graph::add_node(const OpDef& op, std::vector<Value*> inputs, Attrs attrs, std::span<const TensorSpec> outputs) {
  node_storage_.push_back({&op, std::move(attrs), std::move(inputs), {}});
  Node* node = &node_storage_.back();
  for (size_t i = 0; i < outputs.size(); ++i) node->outputs.push_back(new_value(outputs[i], node, static_cast<int>(i)));
  nodes_.push_back(node);
  return node;
}

void Graph::order_inputs(std::vector<Value*> order) {
  inputs_ = std::move(order);
  for (size_t i = 0; i < inputs_.size(); ++i) inputs_[i]->index = static_cast<int>(i);
}

std::string print(const Graph& graph) {
  auto name = [](const Value* value) { return fmt::format("%{}", value->id); };
  auto names = [&](const std::vector<Value*>& values) {
    std::vector<std::string> texts;
    for (const Value* value : values) texts.push_back(name(value));
    return fmt::format("{}", fmt::join(texts, ", "));
  };
  std::vector<std::string> inputs;
  for (const Value* input : graph.inputs()) {
    inputs.push_back(fmt::format("{}{}: {}", name(input), input->spec.name.empty() ? "" : " " + input->spec.name, to_string(input->spec)));
  }
  std::string text = fmt::format("graph {}({}) {{\n", graph.name, fmt::join(inputs, ", "));
  for (const Check& check : graph.checks) text += fmt::format("  check {}: {}\n", check.op, to_string(check.check));
  for (const Node* node : graph.nodes()) {
    std::vector<std::string> specs;
    for (const Value* output : node->outputs) specs.push_back(to_string(output->spec));
    const std::string attrs = node->attrs.to_string();
    text += fmt::format("  {} = {}({}){} : {}\n", names(node->outputs), node->op->name, names(node->inputs),
                        attrs.empty() ? "" : " {" + attrs + "}", fmt::join(specs, ", "));
  }
  return text + fmt::format("  return {}\n}}\n", names(graph.outputs));
}

}  // namespace anyshape::graph
