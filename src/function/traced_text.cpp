// What is noted beside a graph's text.
#include "function/traced_text.h"

#include "function/signature.h"
#include "graph/symbol_collector.h"
#include "graph/text.h"

#include <algorithm>

namespace anyshape::function_detail {

std::shared_ptr<const TracedText> text_beside(const graph::Graph& graph, const Signature& signature, std::vector<std::string> arguments) {
  auto text = std::make_shared<TracedText>();
  graph::SymbolCollector all;
  all.add_graph(graph);
  all.add_all(signature.symbols());
  std::erase_if(all.symbols, [](const Symbol& symbol) { return symbol.from_data; });  // a node brings these
  std::ranges::sort(all.symbols, {}, &Symbol::id);
  text->sizes = graph::size_lines(all.symbols);
  for (const graph::Check& check : graph.checks) text->checks.push_back({check.what, check.expected, check.operands, check.place});
  for (const graph::Node* node : graph.nodes()) {
    if (text->places.empty() || text->places.back().first != node->place) text->places.emplace_back(node->place, 0);
    ++text->places.back().second;
  }
  text->arguments = std::move(arguments);
  return text;
}

}  // namespace anyshape::function_detail
