// Works on the traced body: what is hoisted is called again, outside, and enters the body as an input.
#include "ops/control/hoist.h"

#include "base/switches.h"
#include "graph/bind.h"
#include "graph/symbol_collector.h"
#include "ops/all_ops.h"
#include "ops/contraction/lower_matmul.h"
#include "ops/control/stacked_steps.h"

#include <anyshape/ops.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace anyshape {
namespace {

const Switch transposes_weights("transpose_weights", "a weight that every step multiplies transposed is transposed once");

using graph::Node;
using graph::Value;

class Hoisting {
 public:
  Hoisting(Region& region, std::vector<Tensor>& sequences, const ScanAttrs& attrs)
      : region_(region), graph_(*region.graph), sequences_(sequences), attrs_(attrs) {}

  void run() {
    for (Node* node : std::vector<Node*>(graph_.nodes())) hoist_invariant(*node);
    hoist_products();
    if (!transposes_weights.is_off()) transpose_weights();
  }

 private:
  size_t first_capture() const { return static_cast<size_t>(attrs_.carried + attrs_.sequences); }
  bool is_captured(const Value* value) const { return value->node == nullptr && static_cast<size_t>(value->index) >= first_capture(); }
  const Tensor& captured(const Value* value) const { return region_.captures[static_cast<size_t>(value->index) - first_capture()]; }

  // Computed once instead of once a step.
  void hoist_invariant(const Node& node) {
    const OpKind kind = node.op->kind;
    if (kind == OpKind::Control || kind == OpKind::Random || kind == OpKind::Source || node.op->checks_data() || uses_rows(node)) return;
    if (node.inputs.empty() || !std::ranges::all_of(node.inputs, [&](const Value* input) { return is_captured(input); })) return;
    std::vector<Tensor> inputs;
    for (const Value* input : node.inputs) inputs.push_back(captured(input));
    const std::vector<Tensor> outputs = bind_all(*node.op, inputs, node.attrs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      region_.captures.push_back(outputs[i]);
      replace(node.outputs[i], graph_.add_input(node.outputs[i]->spec));
    }
  }
  // The number of active rows is known inside only.
  bool uses_rows(const Node& node) const {
    if (!attrs_.is_packed()) return false;
    graph::SymbolCollector collector;
    collector.add(node);
    return std::ranges::find(collector.symbols, as_symbol(attrs_.active)->id, &Symbol::id) != collector.symbols.end();
  }

  // Products that need nothing carried, and the elementwise ops before them.
  void hoist_products() {
    std::unordered_set<const Value*> steps;  // known for all steps before the loop
    for (size_t i = static_cast<size_t>(attrs_.carried); i < first_capture(); ++i) {
      if (!attrs_.is_packed() || attrs_.goes_by_rows(graph_.inputs()[i]->spec)) steps.insert(graph_.inputs()[i]);
    }
    std::vector<Node*> products;
    for (Node* node : graph_.nodes()) {
      const bool is_known =
          std::ranges::all_of(node->inputs, [&](const Value* input) { return steps.contains(input) || is_captured(input); }) &&
          std::ranges::any_of(node->inputs, [&](const Value* input) { return steps.contains(input); });
      if (!is_known || !runs_stacked(*node, attrs_, [&](size_t input) { return is_captured(node->inputs[input]); })) continue;
      steps.insert(node->outputs[0]);
      if (node->op == &matmul_op) products.push_back(node);
    }
    for (Node* product : products) {
      if (std::ranges::find(graph_.nodes(), product) == graph_.nodes().end()) continue;
      make_sequence(product->outputs[0]);
    }
  }

  // A weight that every step multiplies transposed, as gradients do, is transposed once: the product of few rows with rows of a weight
  // runs at nearly the full speed of the processor, with its columns at four fifths of it.
  void transpose_weights() {
    std::unordered_map<const Value*, Value*> turned;
    for (Node* node : graph_.nodes()) {
      if (node->op != &matmul_op) continue;
      MatmulAttrs attrs = node->attrs.as<MatmulAttrs>();
      Value*& weight = node->inputs[1];
      if (!attrs.transpose_b || !is_captured(weight) || weight->spec.shape.rank() != 2) continue;
      Value*& input = turned[weight];
      if (input == nullptr) {
        region_.captures.push_back(transpose(captured(weight)));
        input = graph_.add_input({weight->spec.dtype, {weight->spec.shape[1], weight->spec.shape[0]}, {}});
      }
      weight = input;
      attrs.transpose_b = false;
      node->attrs = attrs;
    }
  }

  // The value of all steps, by the same ops on stacked inputs.
  const Tensor& stacked(const Value* value) {
    const auto known = stacked_.find(value);
    if (known != stacked_.end()) return known->second;
    if (is_captured(value)) return captured(value);
    if (value->node == nullptr) return sequences_[static_cast<size_t>(value->index - attrs_.carried)];
    std::vector<Tensor> inputs;
    for (const Value* input : value->node->inputs) inputs.push_back(stacked(input));
    return stacked_[value] = bind_all(*value->node->op, inputs, value->node->attrs)[0];
  }

  void make_sequence(Value* value) {
    const Tensor all = stacked(value);
    Value* input = graph_.add_input(value->spec);
    std::vector<Value*> order = graph_.inputs();
    order.pop_back();
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(first_capture()), input);
    graph_.order_inputs(std::move(order));
    sequences_.push_back(all);
    ++attrs_.sequences;
    ++region_.arguments;
    stacked_[input] = all;
    replace(value, input);
  }

  // What was computed inside is given; its node goes.
  void replace(Value* value, Value* input) {
    std::vector<Node*> kept;
    for (Node* node : graph_.nodes()) {
      if (node == value->node) continue;
      std::ranges::replace(node->inputs, value, input);
      kept.push_back(node);
    }
    graph_.set_nodes(std::move(kept));
    std::ranges::replace(graph_.outputs, value, input);
  }

  Region& region_;
  graph::Graph& graph_;
  std::vector<Tensor>& sequences_;
  ScanAttrs attrs_;
  std::unordered_map<const Value*, Tensor> stacked_;
};

}  // namespace

void hoist(Region& region, std::vector<Tensor>& sequences, const ScanAttrs& attrs) { Hoisting(region, sequences, attrs).run(); }

}  // namespace anyshape
