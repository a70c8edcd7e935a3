// Comparing two traces node by node.
#include "function/frozen.h"

#include "ops/all_ops.h"
#include "ops/source/constant.h"
#include "tensor/tensor_impl.h"

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::function_detail {
namespace {

// The op that takes the value, looking through casts: those come with host numbers.
std::string user_of(const graph::Graph& graph, const graph::Value* value) {
  for (const graph::Node* node : graph.nodes()) {
    if (std::ranges::find(node->inputs, value) == node->inputs.end()) continue;
    if (node->op != &cast_op) return std::string(node->op->name);
    value = node->outputs[0];
  }
  return "result";
}

std::string number_of(const graph::Node& constant) {
  const ConstantAttrs& attrs = constant.attrs.as<ConstantAttrs>();
  return is_floating(attrs.dtype) ? fmt::format("{}", attrs.number) : fmt::format("{}", attrs.integer);
}

bool same_attributes(const graph::Node& a, const graph::Node& b) {
  std::string first, second;
  a.attrs.append_key(first);
  b.attrs.append_key(second);
  return first == second;
}

bool same_step(const graph::Node& a, const graph::Node& b) {
  return a.op == b.op && std::ranges::equal(a.inputs, b.inputs, {}, &graph::Value::id, &graph::Value::id);
}

// By bytes: a tensor with NaNs that is made anew is no difference.
bool same_content(const Tensor& a, const Tensor& b) {
  if (a.impl() == b.impl()) return true;
  if (describe(a) != describe(b)) return false;
  const TensorImpl &first = *a.impl(), &second = *b.impl();  // a trace holds row-major copies
  return std::equal(first.data(), first.data() + first.count() * size_of(first.dtype), second.data());
}

FrozenValue other_path(const std::string& first, const std::string& second) {
  return {
      fmt::format("{} stands where a second run did {}: the callable takes another path from run to run, and this trace holds one of them",
                  first, second),
      first};
}

void compare_nodes(const graph::Graph& first, const graph::Graph& second, std::vector<FrozenValue>& frozen) {
  const std::vector<graph::Node*>&a = first.nodes(), &b = second.nodes();
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i >= a.size() || i >= b.size() || !same_step(*a[i], *b[i])) {
      const auto name = [&](const std::vector<graph::Node*>& nodes) {
        return i < nodes.size() ? std::string(nodes[i]->op->name) : "nothing";
      };
      frozen.push_back(other_path(name(a), name(b)));
      return;
    }
    if (same_attributes(*a[i], *b[i])) continue;
    if (a[i]->op == &constant_op) {
      const std::string user = user_of(first, a[i]->outputs[0]);
      frozen.push_back({fmt::format("{} holds the host number {}; a second run gave {}", user, number_of(*a[i]), number_of(*b[i])), user});
    } else {
      const std::string op(a[i]->op->name);
      frozen.push_back({fmt::format("{} holds {}; a second run gave {}", op, a[i]->attrs.to_string(), b[i]->attrs.to_string()), op});
    }
  }
}

void compare_captures(const Trace& first, const Trace& second, std::vector<FrozenValue>& frozen) {
  // Inputs are arguments, captures, variables; a captured tensor that was made anew with the same values is no difference.
  const size_t arguments = first.graph->inputs().size() - first.captures.size() - first.variables.size();
  for (size_t i = 0; i < std::min(first.captures.size(), second.captures.size()); ++i) {
    const Tensor &a = first.captures[i], &b = second.captures[i];
    if (same_content(a, b)) continue;
    const std::string user = user_of(*first.graph, first.graph->inputs()[arguments + i]);
    frozen.push_back({fmt::format("{} holds a tensor {} made by the callable; a second run gave {}", user, describe(a),
                                  describe(a) == describe(b) ? "other values" : describe(b)),
                      user});
  }
}

}  // namespace

std::vector<FrozenValue> find_frozen(const Trace& first, const std::function<Trace()>& trace_again) {
  std::vector<FrozenValue> frozen;
  try {
    const Trace second = trace_again();
    compare_captures(first, second, frozen);
    compare_nodes(*first.graph, *second.graph, frozen);
  } catch (const std::exception& error) {  // the first run is what counts
    frozen.push_back({fmt::format("the callable threw when it was run a second time: {}", error.what()), ""});
  }
  return frozen;
}

}  // namespace anyshape::function_detail
