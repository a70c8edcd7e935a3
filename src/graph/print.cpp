// Graphs as text; graph/parse.cpp reads it back.
#include "graph/regions.h"
#include "graph/symbol_collector.h"
#include "graph/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace anyshape::graph {
namespace {

std::string size_line(const Symbol& symbol) {
  const DimOptions& options = symbol.options;
  const bool bounded = options.max != std::numeric_limits<int64_t>::max();
  std::string text = "size " + symbol.name;
  if (options.min > 0 || bounded || options.multiple_of > 1)
    text += fmt::format(": {}..{}", options.min, bounded ? fmt::to_string(options.max) : "");
  if (options.multiple_of > 1) text += fmt::format(" multiple of {}", options.multiple_of);
  return text + "\n";
}

// Lines that the parser could not do without: it makes symbols as it meets them in inputs and checks, without a range.
std::string size_lines(const Graph& graph) {
  SymbolCollector all, met;
  all.add_graph(graph);
  for (const Value* input : graph.inputs()) met.add_all(input->spec.shape);
  for (const Check& check : graph.checks) met.add(check.check);
  for (const Node* node : graph.nodes()) {
    if (node->made) met.add(node->made->symbol);
  }
  std::vector<Symbol>& symbols = all.symbols;
  const auto is_met = [&](const Symbol& symbol) { return std::ranges::find(met.symbols, symbol.id, &Symbol::id) != met.symbols.end(); };
  std::erase_if(symbols, [&](const Symbol& symbol) { return symbol.from_data && is_met(symbol); });  // a node brings these
  const bool open = std::ranges::all_of(
      symbols, [&](const Symbol& symbol) { return is_met(symbol) && size_line(symbol).find(':') == std::string::npos; });
  if (open && std::ranges::is_sorted(symbols, {}, &Symbol::id)) return "";
  std::ranges::sort(symbols, {}, &Symbol::id);
  std::string text;
  for (const Symbol& symbol : symbols) text += size_line(symbol);
  return text;
}

// Users choose the names of functions and inputs; what is no plain word stands in quotes.
std::string quoted_if_needed(const std::string& name) {
  const bool plain = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '/' || c >= 0x80;
  });
  if (plain) return name;
  std::string text = "\"";
  for (char c : name) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

std::string names(const std::vector<Value*>& values) {
  std::vector<std::string> texts;
  for (const Value* value : values) texts.push_back(fmt::format("%{}", value->id));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string inputs_text(const Graph& graph) {
  std::vector<std::string> inputs;
  for (const Value* input : graph.inputs()) {
    const std::string name = input->spec.name.empty() ? "" : " " + quoted_if_needed(input->spec.name);
    inputs.push_back(fmt::format("%{}{}: {}", input->id, name, to_string(input->spec)));
  }
  return fmt::format("{}", fmt::join(inputs, ", "));
}

std::string body_text(const Graph& graph, const std::string& indent);

// A region stands below its node, two steps further in: `then(%4: f32[n]) {`, its lines, `}`.
std::string region_text(const NamedRegion& region, const std::string& indent) {
  return fmt::format("{}{}({}) {{\n{}", indent, region.name, inputs_text(*region.graph), body_text(*region.graph, indent));
}

// Checks, nodes, return and the closing brace, which stands at `indent`.
std::string body_text(const Graph& graph, const std::string& indent) {
  std::string text;
  const auto add_checks = [&](const Node* after) {
    for (const Check& check : graph.checks) {
      if (check.after != after) continue;
      text += fmt::format("{}  {} {}: {}\n", indent, check.retrace ? "guard" : "check", check.op, to_string(check.check));
    }
  };
  add_checks(nullptr);
  for (const Node* node : graph.nodes()) {
    std::vector<std::string> specs;
    for (const Value* output : node->outputs) specs.push_back(to_string(output->spec));
    const std::string attrs = node->attrs.to_string(), outputs = names(node->outputs);
    text += fmt::format("{}  {}{}{}({}){}{}{}{}\n", indent, outputs, outputs.empty() ? "" : " = ", node->op->name, names(node->inputs),
                        attrs.empty() ? "" : " {" + attrs + "}", node->made ? " makes " + to_string(node->made->symbol) : "",
                        specs.empty() ? "" : " : ", fmt::join(specs, ", "));
    for (const NamedRegion& region : regions_of(*node)) text += region_text(region, indent + "    ");
    if (node->made) add_checks(node);
  }
  return text + fmt::format("{}  return{}{}\n{}}}\n", indent, graph.outputs.empty() ? "" : " ", names(graph.outputs), indent);
}

}  // namespace

std::string label(const Node& node) { return fmt::format("{}{}{}", names(node.outputs), node.outputs.empty() ? "" : " ", node.op->name); }

std::string print(const Graph& graph) {
  return fmt::format("{}graph {}({}) {{\n{}", size_lines(graph), quoted_if_needed(graph.name), inputs_text(graph), body_text(graph, ""));
}

}  // namespace anyshape::graph
