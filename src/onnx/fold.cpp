// What can be computed when a model is loaded: nodes of constants, and batch normalisations as part of the convolution before them.
#include "graph/outside_trace.h"
#include "onnx/prepare.h"
#include "onnx/walk.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <algorithm>
#include <set>

namespace anyshape::onnx {
namespace {

// The names that nodes read, those of graphs inside them included.
void count_uses(const std::vector<NodeProto>& nodes, std::map<std::string, int>& uses) {
  for (const NodeProto& node : nodes) {
    for (const std::string& input : node.inputs) ++uses[input];
    for (const AttributeProto& attribute : node.attributes) {
      if (attribute.g == nullptr) continue;
      count_uses(attribute.g->nodes, uses);
      for (const ValueInfoProto& output : attribute.g->outputs) ++uses[output.name];
    }
  }
}
std::map<std::string, int> uses_in(const GraphProto& graph) {
  std::map<std::string, int> uses;
  count_uses(graph.nodes, uses);
  for (const ValueInfoProto& output : graph.outputs) ++uses[output.name];
  return uses;
}

bool has_graphs(const NodeProto& node) {
  return std::ranges::any_of(node.attributes, [](const AttributeProto& attribute) { return attribute.g != nullptr; });
}

void fold_constants(ModelProto& model, std::map<std::string, Value>& constants) {
  const Walk::Weights none;
  Walk walk(model, none);
  Scope scope{.opsets = &model.opsets};
  for (const auto& [name, value] : constants) scope.values.emplace(name, value);
  std::vector<NodeProto> left;
  for (NodeProto& node : model.graph.nodes) {
    const RuleEntry* const rule = find_rule(node.domain, node.op, opset_of(model.opsets, node.domain));
    const bool is_known =
        rule != nullptr && !rule->options.is_random && !has_graphs(node) && find_function(model, node) == nullptr &&
        std::ranges::all_of(node.inputs, [&](const std::string& input) { return input.empty() || constants.contains(input); });
    std::vector<Value> results;
    if (is_known) {
      try {
        results = walk.run(node, scope);
      } catch (const Error&) {  // told where the node is met in a call
        results.clear();
      }
    }
    const bool is_folded =
        !results.empty() && std::ranges::all_of(results, [](const Value& value) { return !value.is_given() || value.is_constant(); });
    if (!is_folded) {
      left.push_back(std::move(node));
      continue;
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (node.outputs[i].empty()) continue;
      const auto at = constants.insert_or_assign(node.outputs[i], std::move(results[i])).first;
      scope.values.insert_or_assign(at->first, at->second);
    }
  }
  model.graph.nodes = std::move(left);
}

const Value* constant_at(const NodeProto& node, size_t input, const std::map<std::string, Value>& constants) {
  if (input >= node.inputs.size()) return nullptr;
  const auto found = constants.find(node.inputs[input]);
  return found != constants.end() && found->second.kind() == Value::Kind::Tensor ? &found->second : nullptr;
}

// y = (conv(x, w) + b - mean) * scale + shift is a convolution with other numbers.
class Normalizations {
 public:
  Normalizations(GraphProto& graph, std::map<std::string, Value>& constants)
      : graph_(graph), constants_(constants), uses_(uses_in(graph)) {}

  void run() {
    std::map<std::string, size_t> maker;  // of a name that convolutions give: the node
    std::set<size_t> dropped;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      NodeProto& node = graph_.nodes[i];
      if (node.domain.empty() && node.op == "Conv" && node.outputs.size() == 1) maker[node.outputs[0]] = i;
      if (!node.domain.empty() || node.op != "BatchNormalization" || node.inputs.size() != 5 || node.outputs.size() != 1) continue;
      const auto before = maker.find(node.inputs[0]);
      if (before == maker.end() || uses_[node.inputs[0]] != 1 || !join(graph_.nodes[before->second], node)) continue;
      graph_.nodes[before->second].outputs = node.outputs;
      maker[node.outputs[0]] = before->second;
      dropped.insert(i);
    }
    std::vector<NodeProto> left;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!dropped.contains(i)) left.push_back(std::move(graph_.nodes[i]));
    }
    graph_.nodes = std::move(left);
  }

 private:
  static double epsilon_of(const NodeProto& node, bool& is_plain) {
    double epsilon = 1e-5;
    for (const AttributeProto& attribute : node.attributes) {
      if (attribute.name == "epsilon") epsilon = static_cast<double>(attribute.f);
      if (attribute.name == "training_mode" && attribute.i != 0) is_plain = false;
      if (attribute.name == "spatial" && attribute.i == 0) is_plain = false;
      if (!attribute.ref.empty()) is_plain = false;
    }
    return epsilon;
  }

  bool join(NodeProto& conv, const NodeProto& normalization) {
    const Value *const weight = constant_at(conv, 1, constants_), *const bias = constant_at(conv, 2, constants_);
    const bool has_bias = conv.inputs.size() > 2 && !conv.inputs[2].empty();
    bool is_plain = true;
    const double epsilon = epsilon_of(normalization, is_plain);
    if (weight == nullptr || weight->rank() < 3 || weight->dtype() != Dtype::f32 || (has_bias && bias == nullptr) || !is_plain)
      return false;
    const Dim filters = weight->shape()[0];
    for (size_t i = 1; i < 5; ++i) {
      const Value* const each = constant_at(normalization, i, constants_);
      if (each == nullptr || each->dtype() != Dtype::f32 || each->rank() != 1 || each->shape()[0].value() != filters.value()) return false;
    }
    if (has_bias && (bias->rank() != 1 || bias->shape()[0].value() != filters.value() || bias->dtype() != Dtype::f32)) return false;
    const auto number = [&](size_t i) { return constant_at(normalization, i, constants_)->held(); };
    const OutsideTrace once;
    const Tensor scale = number(1) / sqrt(number(4) + epsilon);
    Shape per_filter{filters};
    for (int axis = 1; axis < weight->rank(); ++axis) per_filter.push_back(1);
    const Tensor shifted = has_bias ? bias->held() - number(3) : 0 - number(3);
    const std::string name = normalization.outputs[0];
    constants_.insert_or_assign(name + "/kernel", Value::constant(weight->tensor() * reshape(scale, per_filter)));
    constants_.insert_or_assign(name + "/bias", Value::constant(shifted * scale + number(2)));
    conv.inputs.resize(1);
    conv.inputs.push_back(name + "/kernel");
    conv.inputs.push_back(name + "/bias");
    return true;
  }

  GraphProto& graph_;
  std::map<std::string, Value>& constants_;
  std::map<std::string, int> uses_;
};

}  // namespace

void fold(ModelProto& model, std::map<std::string, Value>& constants) {
  fold_constants(model, constants);
  Normalizations(model.graph, constants).run();
  const std::map<std::string, int> uses = uses_in(model.graph);
  std::erase_if(constants, [&](const auto& each) { return !uses.contains(each.first); });
}

// Numbers that say how an op works: scales, limits, ratios.
static bool takes_settings(const NodeProto& node) {
  static const std::set<std::string_view> ops = {
      "Resize", "Upsample", "Pad", "Clip", "Range", "Dropout", "QuantizeLinear", "DequantizeLinear", "NonMaxSuppression", "OneHot"};
  return ops.contains(node.op);
}
static void add_settings(const std::vector<NodeProto>& nodes, std::set<std::string>& settings) {
  for (const NodeProto& node : nodes) {
    if (takes_settings(node)) {
      for (size_t i = 1; i < node.inputs.size(); ++i) settings.insert(node.inputs[i]);
    }
    for (const AttributeProto& attribute : node.attributes) {
      if (attribute.g != nullptr) add_settings(attribute.g->nodes, settings);
    }
  }
}
std::set<std::string> settings_of(const ModelProto& model) {
  std::set<std::string> settings;
  add_settings(model.graph.nodes, settings);
  return settings;
}

std::set<std::string> kernels_of(const ModelProto& model) {
  std::map<std::string, int> uses = uses_in(model.graph);
  std::map<std::string, int> as_kernel;
  for (const NodeProto& node : model.graph.nodes) {
    const bool is_convolution = node.domain.empty() && (node.op == "Conv" || node.op == "ConvTranspose");
    if (is_convolution && node.inputs.size() > 1) ++as_kernel[node.inputs[1]];
  }
  std::set<std::string> kernels;
  for (const auto& [name, count] : as_kernel) {
    if (uses[name] == count) kernels.insert(name);
  }
  return kernels;
}

}  // namespace anyshape::onnx
