// The symbols that sizes are made of, each once, in the order they are met. Reads attributes as a visitor, and the regions in them.
#pragma once
#include "graph/graph.h"
#include "shape/dim_node.h"

#include <algorithm>
#include <vector>

namespace anyshape::graph {

class SymbolCollector final : public AttrVisitor {
 public:
  using AttrVisitor::operator();
  void operator()(std::string_view, Dim& field) override { add(field); }
  void operator()(std::string_view, Shape& field) override { add_all(field); }
  void operator()(std::string_view, std::vector<Dim>& field) override { add_all(field); }
  void operator()(std::string_view, RegionGraph& field) override { add_graph(*field); }

  void add_graph(const Graph& graph) {  // in the order its text shows them
    for (const Value* input : graph.inputs()) add_all(input->spec.shape);
    for (const Check& check : graph.checks) add(check.check);
    for (const Node* node : graph.nodes()) node->attrs.visit(*this);
  }
  template <class Dims>
  void add_all(const Dims& dims) {
    for (const Dim& dim : dims) add(dim);
  }
  void add(const Dim& dim) {
    for_each_symbol(dim, [&](const Symbol& symbol) {
      if (std::ranges::find(symbols, symbol.id, &Symbol::id) == symbols.end()) symbols.push_back(symbol);
    });
  }
  void add(const SizeCheck& check) { add(check.a), add(check.b); }
  void add(const Node& node) {  // what must be known before it runs
    node.attrs.visit(*this);
    for (const Value* input : node.inputs) add_all(input->spec.shape);
    if (node.made) return add(node.made->bound);
    for (const Value* output : node.outputs) add_all(output->spec.shape);
  }
  std::vector<Symbol> symbols;
};

}  // namespace anyshape::graph
