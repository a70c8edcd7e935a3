// Graphs as text; graph/parse.cpp reads it back.
#include "graph/regions.h"
#include "graph/symbol_collector.h"
#include "graph/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
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
std::string needed_size_lines(const Graph& graph) {
  SymbolCollector all, met;
  all.add_graph(graph);
  for (const Value* input : graph.inputs()) met.add_all(input->spec.shape);
  for (const Check& check : graph.checks) met.add(check.check);
  for (const Node* node : graph.nodes()) {
    if (node->made) met.add(node->made->symbol);
  }
  std::vector<Symbol>& symbols = all.symbols;
  const auto is_met = [&](const Symbol& symbol) { return std::ranges::find(met.symbols, symbol.id, &Symbol::id) != met.symbols.end(); };
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.from_data; });  // nodes bring these
  const bool open = std::ranges::all_of(
      symbols, [&](const Symbol& symbol) { return is_met(symbol) && size_line(symbol).find(':') == std::string::npos; });
  if (open && std::ranges::is_sorted(symbols, {}, &Symbol::id)) return "";
  std::ranges::sort(symbols, {}, &Symbol::id);
  return graph::size_lines(symbols);
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

void add_names(std::string& text, std::span<Value* const> values) {
  bool is_first = true;
  for (const Value* value : values) {
    fmt::format_to(std::back_inserter(text), "{}%{}", is_first ? "" : ", ", value->id);
    is_first = false;
  }
}

std::string names(std::span<Value* const> values) {
  std::string text;
  add_names(text, values);
  return text;
}

std::string inputs_text(const Graph& graph) {
  std::string text;
  for (const Value* input : graph.inputs()) {
    const std::string name = input->spec.name.empty() ? "" : " " + quoted_if_needed(input->spec.name);
    fmt::format_to(std::back_inserter(text), "{}%{}{}: {}", text.empty() ? "" : ", ", input->id, name, to_string(input->spec));
  }
  return text;
}

// Deeper regions stand no further in, so that the text of a deep nest is as long as it has lines.
constexpr int deepest_indent = 32;

void add_body(std::string& text, const Graph& graph, int depth);

// A region stands below its node, two indents further in: `then(%4: f32[n]) {`, its lines, `}`.
void add_region(std::string& text, const NamedRegion& region, int depth) {
  text.append(size_t{2} * static_cast<size_t>(std::min(depth, deepest_indent)), ' ');
  fmt::format_to(std::back_inserter(text), "{}({}) {{\n", region.name, inputs_text(*region.graph));
  add_body(text, *region.graph, depth);
}

// Checks, nodes, return and the closing brace, which stands `depth` indents in.
void add_body(std::string& text, const Graph& graph, int depth) {
  const std::string indent(static_cast<size_t>(2 * std::min(depth, deepest_indent)), ' ');
  const auto out = std::back_inserter(text);
  const auto add_checks = [&](const Node* after) {
    for (const Check& check : graph.checks) {
      if (check.after != after) continue;
      fmt::format_to(out, "{}  {} {}: {}\n", indent, check.retrace ? "guard" : "check", check.op, to_string(check.check));
    }
  };
  add_checks(nullptr);
  for (const Node* node : graph.nodes()) {
    std::vector<std::string> specs;
    for (const Value* output : node->outputs) specs.push_back(to_string(output->spec));
    const std::string attrs = node->attrs.to_string(), outputs = names(node->outputs);
    fmt::format_to(out, "{}  {}{}{}({}){}{}{}{}\n", indent, outputs, outputs.empty() ? "" : " = ", node->op->name, names(node->inputs),
                   attrs.empty() ? "" : " {" + attrs + "}", node->made ? " makes " + to_string(node->made->symbol) : "",
                   specs.empty() ? "" : " : ", fmt::join(specs, ", "));
    for (const NamedRegion& region : regions_of(*node)) add_region(text, region, depth + 2);
    if (node->made) add_checks(node);
  }
  fmt::format_to(out, "{}  return{}{}\n{}}}\n", indent, graph.outputs.empty() ? "" : " ", names(graph.outputs), indent);
}

}  // namespace

std::string size_lines(std::span<const Symbol> symbols) {
  std::string text;
  for (const Symbol& symbol : symbols) text += size_line(symbol);
  return text;
}

std::string label(const Node& node) {
  std::string text = names(node.outputs);
  if (!text.empty()) text += ' ';
  text += node.op->name;
  return text;
}

std::string print(const Graph& graph) {
  std::string text = fmt::format("{}graph {}({}) {{\n", needed_size_lines(graph), quoted_if_needed(graph.name), inputs_text(graph));
  add_body(text, graph, 0);
  return text;
}

}  // namespace anyshape::graph
