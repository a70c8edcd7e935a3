// A concat needs no kernel of its own where loops over elements make all its parts.
#include "lower/concat_in_place.h"

#include "base/switches.h"
#include "graph/text.h"
#include "lower/kernel_reads.h"
#include "shape/dim_node.h"

#include <algorithm>

namespace anyshape::lower {
namespace {

const Switch concats_in_place("concat_in_place", "parts of a concatenation are written where they stand in it");

using graph::Graph;
using graph::Node;
using graph::Value;

// Rows of parts are apart in the whole, so that a kernel walks each by itself: short ones would leave its vectors empty.
constexpr int64_t shortest_row = 16;

// Its parts have no axis less than the whole.
bool is_concat(const Node& node) {
  return node.op->traits.joined_axis != nullptr && node.inputs[0]->spec.shape.rank() == node.outputs[0]->spec.shape.rank();
}

class Placing {
 public:
  Placing(const Graph& graph, Groups& groups) : graph_(graph), groups_(groups) {
    for (const Node* node : graph.nodes()) {
      if (node->made) data_sizes_.push_back(as_symbol(node->made->symbol)->id);
    }
    for (const PlannedKernel& kernel : groups.kernels) {
      for (const Node* root : kernel.roots) {
        if (kernel.kind == KernelKind::Single && is_loop(*root)) in_loops_.insert(root->outputs[0]);
      }
    }
  }

  std::string_view reason_against(const Node& concat) const {
    const auto is_data_dependent = [&](const Dim& size) {
      return std::ranges::any_of(data_sizes_, [&](uint64_t symbol) { return depends_on(size, symbol); });
    };
    if (std::ranges::any_of(concat.outputs[0]->spec.shape, is_data_dependent))
      return "its size is data-dependent and may be known only after a part has run";
    for (const Value* input : concat.inputs) {
      if (!in_loops_.contains(input)) return "a part is not made by a loop over its elements";
      const Dim& own = input->spec.shape[-1];
      if (own.is_constant() && own.value() < shortest_row) return "the rows of a part are short";
    }
    return {};
  }

  void place(const Node& concat) {
    const Value* const whole = concat.outputs[0];
    const int axis = concat.op->traits.joined_axis(concat.attrs, whole->spec.shape.rank());
    Dim begin = 0;
    for (const Value* input : concat.inputs) {
      groups_.parts_of[input].push_back({whole, axis, begin});
      begin = begin + input->spec.shape[axis];
    }
    placed_.insert(&concat);
  }

  void finish() {
    for (const auto& [value, parts] : groups_.parts_of) groups_.only_parts.insert(value);
    for (const Node* node : graph_.nodes()) {
      if (placed_.contains(node)) continue;
      for (const Value* input : node->inputs) groups_.only_parts.erase(input);
    }
    for (const Value* output : graph_.outputs) groups_.only_parts.erase(output);
    std::erase_if(groups_.kernels, [&](const PlannedKernel& kernel) { return placed_.contains(kernel.roots[0]); });
  }

 private:
  const Graph& graph_;
  Groups& groups_;
  std::unordered_set<const Value*> in_loops_;  // written by loops over elements
  std::unordered_set<const Node*> placed_;
  std::vector<uint64_t> data_sizes_;  // symbols
};

}  // namespace

void concat_in_place(const Graph& graph, Groups& groups, Decisions& decisions) {
  if (concats_in_place.is_off()) return;
  if (std::ranges::none_of(graph.nodes(), [](const Node* node) { return is_concat(*node); })) return;
  Placing placing(graph, groups);
  for (const Node* node : graph.nodes()) {
    if (!is_concat(*node)) continue;
    const std::string_view against = placing.reason_against(*node);
    decisions.push_back({"concat_in_place", graph::label(*node), against.empty(),
                         std::string(against.empty() ? "its parts are written where they stand" : against)});
    if (against.empty()) placing.place(*node);
  }
  placing.finish();
}

}  // namespace anyshape::lower
