// An ONNX graph is run by walking its nodes with our ops: traced inside a function, at once outside of one.
#pragma once
#include "onnx/proto.h"
#include "onnx/rule.h"
#include "onnx/value.h"

#include <anyshape/variable.h>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace anyshape::onnx {

// The names that a node sees: those of its graph, and those around it. A function's body sees nothing around it.
struct Scope {
  const Scope* outer = nullptr;
  const std::map<std::string, int64_t>* opsets = nullptr;
  const NodeProto* caller = nullptr;        // of a function's body: whose attributes its nodes may refer to
  const Scope* caller_scope = nullptr;      // where that call stands
  const FunctionProto* function = nullptr;  // likewise: its attributes' defaults
  int depth = 0;
  std::unordered_map<std::string_view, Value> values = {};
};

class Walk {
 public:
  using Weights = std::map<std::string, Variable>;
  Walk(const ModelProto& model, const Weights& weights) : model_(model), weights_(weights) {}

  // The main graph's outputs; `inputs` in the order of its inputs that are not initializers.
  std::vector<Value> run(std::span<const Value> inputs, std::span<const std::string> names, const std::map<std::string, Value>& constants);
  // A graph inside a node.
  std::vector<Value> run(const GraphProto& graph, const Scope& around, std::vector<Value> inputs);
  // One node: its outputs, as many as it names.
  std::vector<Value> run(const NodeProto& node, Scope& scope);

 private:
  std::vector<Value> run_function(const FunctionProto& function, const NodeProto& node, const Scope& scope, std::vector<Value> inputs);
  std::vector<Value> run_rule(const RuleEntry& rule, const NodeProto& node, const Scope& scope, std::vector<Value> inputs, int64_t opset);
  void run_nodes(std::span<const NodeProto> nodes, Scope& scope);
  Value look_up(const std::string& name, const Scope& scope, const NodeProto* node) const;

  const ModelProto& model_;
  const Weights& weights_;
};

// The model's own function of that name; null where there is none.
const FunctionProto* find_function(const ModelProto& model, const NodeProto& node);
int64_t opset_of(const std::map<std::string, int64_t>& opsets, const std::string& domain);
std::string title_of(const NodeProto& node);  // `node "conv1" (Conv)`

// What an op gives for sizes: arithmetic on expressions instead of tensors. None where it has to be computed.
std::optional<Value> fold_sizes(const NodeCall& call);

}  // namespace anyshape::onnx
