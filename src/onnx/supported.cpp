// Whether every op of a model has a rule: told at once for all that have none, before anything runs.
#include "base/cut_text.h"
#include "onnx/prepare.h"
#include "onnx/rule.h"
#include "onnx/walk.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <map>

namespace anyshape::onnx {
namespace {

struct Count {
  const ModelProto& model;
  std::map<std::string, int64_t> missing = {};

  void visit(const std::vector<NodeProto>& nodes, const std::map<std::string, int64_t>& opsets) {
    for (const NodeProto& node : nodes) {
      if (find_function(model, node) == nullptr) {
        const int64_t opset = opset_of(opsets, node.domain);
        if (find_rule(node.domain, node.op, opset) == nullptr) {
          ++missing[fmt::format("{}{}{} (opset {})", shortened(node.domain), node.domain.empty() ? "" : ".", shortened(node.op), opset)];
        }
      }
      for (const AttributeProto& attribute : node.attributes) {
        if (attribute.g != nullptr) visit(attribute.g->nodes, opsets);
      }
    }
  }
};

}  // namespace

void require_supported(const ModelProto& model, const std::string& file) {
  Count count{model};
  count.visit(model.graph.nodes, model.opsets);
  for (const FunctionProto& function : model.functions) count.visit(function.nodes, function.opsets);
  if (count.missing.empty()) return;
  std::vector<std::string> told;
  for (const auto& [op, times] : count.missing) told.push_back(times == 1 ? op : fmt::format("{} {} times", op, times));
  throw Unsupported(fmt::format("onnx: {} needs {} that {} not supported: {}; expected ops of docs/onnx.md.", whole_in_quotes(file),
                                told.size() == 1 ? "an op" : fmt::format("{} ops", told.size()), told.size() == 1 ? "is" : "are",
                                listed(told)));
}

}  // namespace anyshape::onnx
