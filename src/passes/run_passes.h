// The passes over a graph, in order. Each is one file with one function, and can be switched off by its name (base/switches.h).
#pragma once
#include "base/decision.h"
#include "graph/graph.h"

#include <span>
#include <string_view>

namespace anyshape::passes {

struct Pass {
  std::string_view name;
  void (*run)(graph::Graph& graph, Decisions& decisions);
};

std::span<const Pass> all_passes();
void run_passes(graph::Graph& graph, Decisions& decisions);  // and verifies the result

void drop_identities(graph::Graph& graph, Decisions& decisions);   // takes values from before ops that change nothing
void remove_dead_code(graph::Graph& graph, Decisions& decisions);  // drops nodes that no output needs
void deduplicate(graph::Graph& graph, Decisions& decisions);       // computes equal expressions once

}  // namespace anyshape::passes
