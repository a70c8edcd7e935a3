// From the first value to the last: a value that the backward part reads is kept unless little work makes it from what is known already.
#include "function/kept_values.h"

#include "graph/slot_table.h"
#include "ops/element_cost.h"

#include <algorithm>
#include <optional>

namespace anyshape::function_detail {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;

// Whether a loop that reads the value can compute it as it goes.
bool swallows(const Node& node) { return node.op->lower == nullptr && !node.op->is_alias && node.op->kind != OpKind::Control; }

class Choice {
 public:
  Choice(const Graph& graph, size_t forward)
      : graph_(graph), forward_(forward), is_kept_(graph), is_read_(graph), is_swallowed_(graph, 1) {}

  std::vector<Value*> choose(std::span<Value* const> gradients) {
    find_reads(gradients);
    std::vector<Value*> kept;
    const auto keep = [&](Value* value) {
      if (is_kept_.insert(value)) kept.push_back(value);
    };
    for (size_t i = 0; i < forward_; ++i) {
      const Node& node = *graph_.nodes()[i];
      const bool is_once = node.made != nullptr;
      for (Value* output : node.outputs) {
        if (is_once || (is_read_.contains(output) && !work_again(output, is_swallowed_.at(output) != 0))) keep(output);
      }
    }
    return kept;
  }

 private:
  // The forward values that nodes behind the forward part read, as far as gradients need these.
  void find_reads(std::span<Value* const> gradients) {
    graph::SlotSet<Node> needed(graph_);
    const auto need = [&](const Value* value, bool swallowed) {
      is_read_.insert(value);
      if (!swallowed) is_swallowed_[value] = 0;
      if (value->node != nullptr) needed.insert(value->node);
    };
    for (const Value* gradient : gradients) need(gradient, false);
    for (size_t i = graph_.nodes().size(); i-- > forward_;) {
      const Node& node = *graph_.nodes()[i];
      if (!needed.contains(&node)) continue;
      for (const Value* input : node.inputs) need(input, swallows(node));
    }
  }

  // The instructions per element that make it once more; nothing where that is no choice.
  std::optional<int> work_again(const Value* value, bool swallowed) const {
    if (value->node == nullptr || is_kept_.contains(value)) return 0;
    const Node& node = *value->node;
    if (node.made != nullptr || node.op->kind == OpKind::Random || node.op->kind == OpKind::Control || node.op->checks_data()) return {};
    if (node.inputs.empty()) return 0;
    int work = 0;
    if (!node.op->is_alias) {
      const bool is_number = value->spec.shape.rank() == 0;
      const bool is_elementwise = node.op->kind == OpKind::Elementwise && node.op->element != nullptr;
      const bool moves = node.op->kind == OpKind::Movement && node.op->element != nullptr;
      if (!is_elementwise && !moves) return {};
      if (!swallowed && !is_number) return {};
      work = moves ? 1 : element_cost(node);
      if (work > cheaper_than_waiting) return {};
    }
    for (const Value* input : node.inputs) {
      const std::optional<int> more = work_again(input, swallowed || !node.op->is_alias);
      if (!more) return {};
      work += *more;
      if (work > cheaper_than_scratch) return {};
    }
    return work;
  }

  const Graph& graph_;
  size_t forward_;
  graph::SlotSet<Value> is_kept_, is_read_;
  graph::SlotTable<Value, char> is_swallowed_;  // by every node that reads it
};

}  // namespace

std::vector<Value*> choose_kept(const Graph& graph, size_t forward, std::span<Value* const> gradients) {
  return Choice(graph, forward).choose(gradients);
}

}  // namespace anyshape::function_detail
