// The walk: names become values, a node's rule is called with them, and what is known of sizes stays known.
#include "onnx/walk.h"

#include "base/cut_text.h"
#include "graph/layer_path.h"
#include "graph/outside_trace.h"
#include "onnx/align.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::onnx {
namespace {

constexpr int deepest = 64;  // calls of functions and graphs inside each other

bool is_constant(const Value& value) { return !value.is_given() || value.is_constant(); }

// int8 and the like stay what they are where a rule does not say what it gives.
void keep_type(const Value& first, std::vector<Value>& results) {
  if (!first.is_given() || !is_narrow(first.type())) return;
  for (Value& result : results) {
    if (result.kind() != Value::Kind::Tensor || is_narrow(result.type())) continue;
    if (result.dtype() == first.dtype()) result = result.with_type(first.type());
  }
}

}  // namespace

const FunctionProto* find_function(const ModelProto& model, const NodeProto& node) {
  for (const FunctionProto& function : model.functions) {
    if (function.name == node.op && function.domain == node.domain && function.overload == node.overload) return &function;
  }
  return nullptr;
}

int64_t opset_of(const std::map<std::string, int64_t>& opsets, const std::string& domain) {
  const auto found = opsets.find(domain);
  return found == opsets.end() ? 1 : found->second;
}

std::string title_of(const NodeProto& node) {
  if (!node.name.empty()) return fmt::format("node {} ({})", in_quotes(node.name), shortened(node.op));
  if (!node.outputs.empty()) return fmt::format("the {} node that gives {}", shortened(node.op), in_quotes(node.outputs[0]));
  return fmt::format("a node ({})", shortened(node.op));
}

Value Walk::look_up(const std::string& name, const Scope& scope, const NodeProto* node) const {
  if (name.empty()) return {};
  const Scope* last = &scope;
  for (const Scope* around = &scope; around != nullptr; around = around->outer) {
    if (const auto found = around->values.find(name); found != around->values.end()) return found->second;
    last = around;
  }
  if (last->function == nullptr) {
    if (const auto weight = weights_.find(name); weight != weights_.end()) return weight->second.read();
  }
  throw FormatError(fmt::format("onnx: {}: {} is made by no node before it and is no input; expected nodes in the order in which they run.",
                                node != nullptr ? title_of(*node) : "an output", in_quotes(name)));
}

std::vector<Value> Walk::run(std::span<const Value> inputs, std::span<const std::string> names,
                             const std::map<std::string, Value>& constants) {
  Scope scope{.opsets = &model_.opsets};
  for (const auto& [name, value] : constants) scope.values.emplace(name, value);
  for (size_t i = 0; i < names.size(); ++i) scope.values.insert_or_assign(names[i], inputs[i]);
  run_nodes(model_.graph.nodes, scope);
  std::vector<Value> outputs;
  for (const ValueInfoProto& output : model_.graph.outputs) outputs.push_back(look_up(output.name, scope, nullptr));
  return outputs;
}

std::vector<Value> Walk::run(const GraphProto& graph, const Scope& around, std::vector<Value> inputs) {
  if (around.depth > deepest)
    throw FormatError(fmt::format("onnx: graphs and functions call each other more than {} deep; expected fewer.", deepest));
  if (inputs.size() > graph.inputs.size()) {
    throw FormatError(fmt::format("onnx: graph {} takes {} inputs and is given {}; expected as many.", in_quotes(graph.name),
                                  graph.inputs.size(), inputs.size()));
  }
  Scope scope{.outer = &around,
              .opsets = around.opsets,
              .caller = around.caller,
              .caller_scope = around.caller_scope,
              .function = around.function,
              .depth = around.depth + 1};
  for (const auto& [name, constant] : graph.constants) scope.values.emplace(name, Value::constant(constant.first, constant.second));
  for (size_t i = 0; i < inputs.size(); ++i) scope.values.insert_or_assign(graph.inputs[i].name, std::move(inputs[i]));
  run_nodes(graph.nodes, scope);
  std::vector<Value> outputs;
  for (const ValueInfoProto& output : graph.outputs) outputs.push_back(look_up(output.name, scope, nullptr));
  return outputs;
}

void Walk::run_nodes(std::span<const NodeProto> nodes, Scope& scope) {
  for (const NodeProto& node : nodes) {
    std::vector<Value> results = run(node, scope);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].empty()) scope.values.insert_or_assign(node.outputs[i], std::move(results[i]));
    }
  }
}

std::vector<Value> Walk::run(const NodeProto& node, Scope& scope) {
  std::vector<Value> inputs;
  for (const std::string& name : node.inputs) inputs.push_back(look_up(name, scope, &node));
  size_t named = inputs.size();
  while (named > 0 && node.inputs[named - 1].empty()) --named;
  inputs.resize(named);
  const std::string path = node.name.empty() ? node.op : node.name;
  const ScopedLayerName place(path);
  std::vector<Value> results;
  if (const FunctionProto* function = find_function(model_, node)) {
    results = run_function(*function, node, scope, std::move(inputs));
  } else {
    const int64_t opset = opset_of(*scope.opsets, node.domain);
    const RuleEntry* rule = find_rule(node.domain, node.op, opset);
    if (rule == nullptr) throw Unsupported(fmt::format("onnx: {}: this op is not supported in opset {}.", title_of(node), opset));
    results = run_rule(*rule, node, scope, std::move(inputs), opset);
  }
  if (results.size() < node.outputs.size()) {
    const auto unused = std::all_of(node.outputs.begin() + static_cast<std::ptrdiff_t>(results.size()), node.outputs.end(),
                                    [](const std::string& name) { return name.empty(); });
    if (!unused)
      throw FormatError(
          fmt::format("onnx: {}: it names {} outputs; expected at most {}.", title_of(node), node.outputs.size(), results.size()));
  }
  results.resize(node.outputs.size());
  return results;
}

std::vector<Value> Walk::run_rule(const RuleEntry& rule, const NodeProto& node, const Scope& scope, std::vector<Value> inputs,
                                  int64_t opset) {
  const bool has_sizes = std::ranges::any_of(inputs, [](const Value& value) { return value.is_sizes(); });
  if (has_sizes || node.op == "Shape" || node.op == "Size") {
    if (std::optional<Value> folded = fold_sizes(NodeCall(*this, scope, node, inputs, opset))) return {std::move(*folded)};
  }
  const Value first = inputs.empty() ? Value() : inputs[0];
  const bool has_graphs = std::ranges::any_of(node.attributes, [](const AttributeProto& attribute) { return attribute.g != nullptr; });
  const bool is_constant_node = !rule.options.is_random && !has_graphs && std::ranges::all_of(inputs, is_constant);
  if (is_constant_node) {
    const OutsideTrace once;
    NodeCall call(*this, scope, node, std::move(inputs), opset);
    std::vector<Value> results = rule.rule(call).values;
    for (Value& result : results) {
      if (result.kind() == Value::Kind::Tensor) result = result.as_constant();
    }
    keep_type(first, results);
    return results;
  }
  const bool is_aligned = rule.options.is_elementwise && align_images(inputs);
  NodeCall call(*this, scope, node, std::move(inputs), opset);
  std::vector<Value> results = rule.rule(call).values;
  if (is_aligned) {
    for (Value& result : results) result = Value::image(result.held(), result.type());
  }
  keep_type(first, results);
  return results;
}

std::vector<Value> Walk::run_function(const FunctionProto& function, const NodeProto& node, const Scope& scope, std::vector<Value> inputs) {
  if (scope.depth > deepest)
    throw FormatError(fmt::format("onnx: {}: functions call each other more than {} deep; expected fewer.", title_of(node), deepest));
  if (inputs.size() > function.inputs.size()) {
    throw FormatError(fmt::format("onnx: {}: it has {} inputs; expected at most {}, as its function takes.", title_of(node), inputs.size(),
                                  function.inputs.size()));
  }
  Scope body{.opsets = &function.opsets, .caller = &node, .caller_scope = &scope, .function = &function, .depth = scope.depth + 1};
  inputs.resize(function.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) body.values.insert_or_assign(function.inputs[i], std::move(inputs[i]));
  run_nodes(function.nodes, body);
  std::vector<Value> outputs;
  for (const std::string& output : function.outputs) {
    const auto found = body.values.find(output);
    outputs.push_back(found != body.values.end() ? found->second : Value());
  }
  return outputs;
}

}  // namespace anyshape::onnx
