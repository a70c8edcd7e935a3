// The passes over a graph, in order. Each is one file with one function.
#pragma once
#include "graph/graph.h"

#include <span>
#include <string_view>

namespace anyshape::passes {

struct Pass {
  std::string_view name;
  void (*run)(graph::Graph& graph);
};

std::span<const Pass> all_passes();
void run_passes(graph::Graph& graph);  // and verifies the result

void drop_identities(graph::Graph& graph);   // takes values from before ops that change nothing
void remove_dead_code(graph::Graph& graph);  // drops nodes that no output needs
void deduplicate(graph::Graph& graph);       // computes equal expressions once

}  // namespace anyshape::passes
