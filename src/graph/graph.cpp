// Graph building.
#include "graph/graph.h"

#include "shape/dim_node.h"
#include "shape/substitute.h"

#include <algorithm>

namespace anyshape::graph {

std::vector<TensorSpec> input_specs(const Node& node) {
  std::vector<TensorSpec> specs;
  specs.reserve(node.inputs.size());
  for (const Value* input : node.inputs) specs.push_back(input->spec);
  return specs;
}

void rename(Specs& specs, const Dim& symbol, const Dim& by) {
  const Substitution substitution{{as_symbol(symbol)->id, by}};
  for (TensorSpec& spec : specs) spec.shape = substitute(spec.shape, substitution);
}

Value* Graph::new_value(TensorSpec spec, Node* node, int index) {
  const auto slot = static_cast<uint32_t>(values_.size());
  return &values_.push_back({.spec = std::move(spec), .node = node, .index = index, .id = next_id_++, .slot = slot});
}

Value* Graph::add_input(TensorSpec spec) {
  inputs_.push_back(new_value(std::move(spec), nullptr, static_cast<int>(inputs_.size())));
  return inputs_.back();
}

Node* Graph::add_node(const OpDef& op, ValueList inputs, Attrs attrs, std::span<const TensorSpec> outputs,
                      const std::optional<MadeSize>& made) {
  const auto slot = static_cast<uint32_t>(node_storage_.size());
  Node* const node = &node_storage_.push_back(
      {.op = &op, .attrs = std::move(attrs), .inputs = std::move(inputs), .outputs = {}, .slot = slot, .made = {}});
  if (made) node->made = std::make_unique<const MadeSize>(*made);
  for (size_t i = 0; i < outputs.size(); ++i) node->outputs.push_back(new_value(outputs[i], node, static_cast<int>(i)));
  nodes_.push_back(node);
  return node;
}

const Node* Graph::maker_of(const SizeCheck& check) const {
  const Node* last = nullptr;
  for (const Node* node : nodes_) {
    if (!node->made) continue;
    const uint64_t id = as_symbol(node->made->symbol)->id;
    if (depends_on(check.a, id) || depends_on(check.b, id)) last = node;
  }
  return last;
}

const Node* Graph::find_size(const OpDef& op, const Attrs& attrs, const Value* decides) const {
  std::string key;
  attrs.append_key(key);
  const auto found = std::ranges::find_if(nodes_, [&](const Node* node) {
    if (node->op != &op || node->inputs.back() != decides) return false;
    std::string other;
    node->attrs.append_key(other);
    return other == key;
  });
  return found == nodes_.end() ? nullptr : *found;
}

void Graph::number(Value* value, int id) {
  value->id = id;
  next_id_ = std::max(next_id_, id + 1);
}

void Graph::order_inputs(std::vector<Value*> order) {
  inputs_ = std::move(order);
  for (size_t i = 0; i < inputs_.size(); ++i) inputs_[i]->index = static_cast<int>(i);
}

}  // namespace anyshape::graph
