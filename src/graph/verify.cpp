// The rules every graph keeps: values are made once and before they are used, and every spec is what the op's own rules give.
#include "graph/halves.h"
#include "graph/regions.h"
#include "graph/slot_table.h"
#include "graph/symbol_collector.h"
#include "graph/text.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <unordered_set>

namespace anyshape::graph {
namespace {

// Sizes may be written in another way than the rule does, after what is known was put in; they must not be provably different.
bool can_be(const TensorSpec& spec, const TensorSpec& expected) {
  if (spec.dtype != expected.dtype || spec.shape.rank() != expected.shape.rank()) return false;
  for (int axis = 0; axis < spec.shape.rank(); ++axis) {
    if (!proves_equal(spec.shape[axis], expected.shape[axis]).value_or(true)) return false;
  }
  return true;
}

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), made_(graph) {}

  void run() {
    for (const Value* input : graph_.inputs()) make(input, "input");
    for (const Node* node : graph_.nodes()) {
      if (node->made && !sizes_to_come_.insert(as_symbol(node->made->symbol)->id).second)
        refuse(node->op->name, fmt::format("makes {} a second time", to_string(node->made->symbol)));
    }
    for (const Node* node : graph_.nodes()) verify_node(*node);
    for (const Value* output : graph_.outputs) {
      if (!is_made(output)) refuse("return", fmt::format("names %{}, which nothing makes", output->id));
    }
  }

 private:
  [[noreturn]] void refuse(std::string_view place, const std::string& what) const {
    throw InternalError(fmt::format("graph \"{}\": {} {}\n{}", graph_.name, place, what, print(graph_)));
  }

  bool is_made(const Value* value) const { return made_.at(value) == value; }  // a value of another graph is not

  void make(const Value* value, std::string_view place) {
    if (is_made(value)) refuse(place, fmt::format("makes %{} a second time", value->id));
    made_[value] = value;
  }

  void verify_node(const Node& node) {
    const std::string_view name = node.op->name;
    std::vector<TensorSpec> inputs;
    for (const Value* input : node.inputs) {
      if (!is_made(input)) refuse(name, fmt::format("reads %{} before it is made", input->id));
      inputs.push_back(input->spec);
    }
    Specs expected;
    try {
      expected = specs_by_rules(*node.op, inputs, node.attrs);
    } catch (const Error& error) {
      refuse(name, fmt::format("breaks its rule: {}", error.what()));
    }
    if (expected.size() != node.outputs.size())
      refuse(name, fmt::format("has {} outputs but its rule says {}", node.outputs.size(), expected.size()));
    verify_sizes(node);
    for (size_t i = 0; i < expected.size(); ++i) {
      const TensorSpec& spec = node.outputs[i]->spec;
      if (!can_be(spec, expected[i])) refuse(name, fmt::format("gives {} but its rule says {}", to_string(spec), to_string(expected[i])));
      make(node.outputs[i], name);
    }
    for (const NamedRegion& region : regions_of(node)) Verifier(*region.graph).run();
  }

  // A size that depends on data is there once the node that makes it has run.
  void verify_sizes(const Node& node) {
    if (sizes_to_come_.empty()) return;  // so that regions are walked once, not once for each region around them
    SymbolCollector needed;
    needed.add(node);
    for (const Symbol& symbol : needed.symbols) {
      if (sizes_to_come_.contains(symbol.id)) refuse(node.op->name, fmt::format("uses {} before it is made", symbol.name));
    }
    if (!node.made) return;
    const TensorSpec& last = node.outputs.back()->spec;
    if (last.dtype != Dtype::i64 || last.shape.rank() != 0) refuse(node.op->name, "makes a size but does not give it as its last output");
    sizes_to_come_.erase(as_symbol(node.made->symbol)->id);
  }

  const Graph& graph_;
  SlotTable<Value, const Value*> made_;
  std::unordered_set<uint64_t> sizes_to_come_;  // symbols that a later node makes
};

}  // namespace

Specs specs_by_rules(const OpDef& op, std::span<const TensorSpec> inputs, const Attrs& attrs, const Facts* facts,
                     std::vector<OpCheck>* open, std::optional<MadeSize>* made) {
  const size_t count = inputs.size();
  if (op.inputs >= 0 ? count != static_cast<size_t>(op.inputs) : count == 0) {
    throw ArgumentError(
        fmt::format("{}: got {} inputs; expected {}.", op.name, count, op.inputs < 0 ? "at least one" : fmt::to_string(op.inputs)));
  }
  std::vector<DtypeArgument> given;
  for (const TensorSpec& input : inputs) given.push_back({input.dtype, false});
  std::vector<Dtype> wanted(count);
  if (count > 0) op.dtype(op.name, given, wanted);
  for (size_t i = 0; i < count; ++i) {
    if (computes_in_f32(op) && is_half(wanted[i])) wanted[i] = Dtype::f32;
    if (wanted[i] == given[i].dtype) continue;
    throw DtypeError(
        fmt::format("{}: input {} is {}; expected it cast to {}.", op.name, i, to_string(given[i].dtype), to_string(wanted[i])));
  }
  OpCall call(op, inputs, attrs, facts);
  Specs specs = op.shape(call);
  if (open != nullptr) *open = std::move(call.checks);
  if (made != nullptr) *made = std::move(call.made);
  return specs;
}

void verify(const Graph& graph) { Verifier(graph).run(); }

}  // namespace anyshape::graph
