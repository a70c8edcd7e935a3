// Whether something says how large everything is: for graphs that nobody traced.
#pragma once
#include "graph/graph.h"

#include <optional>
#include <span>
#include <string>

namespace anyshape::saved {

// The name of a size that stands in the graph where nothing says what it is: neither one of these symbols, nor made by a node, nor the rows
// that a scan of packed rows has left, inside of it.
std::optional<std::string> unbound_size(const graph::Graph& graph, std::span<const Dim> symbols);

}  // namespace anyshape::saved
