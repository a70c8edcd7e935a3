// The passes over a graph, in order. Each is one file with one function, and can be switched off by its name (base/switches.h). Each says what
// it rewrote as decisions, leaves a graph that keeps the rules, and passes through the regions of control flow, too.
#pragma once
#include "base/decision.h"
#include "base/dump.h"
#include "graph/graph.h"
#include "passes/pass_report.h"

#include <span>
#include <string_view>

namespace anyshape::passes {

struct Pass {
  std::string_view name;
  void (*run)(graph::Graph& graph, Decisions& decisions);
};

std::span<const Pass> all_passes();

// Runs and times those that are not switched off, and verifies the result: after each of them in debug builds and where ANYSHAPE_VERIFY=1,
// as in tests, else after the last.
PassReports run_passes(graph::Graph& graph, Decisions& decisions, Dump* dump = nullptr);

void remove_dead_code(graph::Graph& graph, Decisions& decisions);   // drops nodes that no output needs
void sink_constants(graph::Graph& graph, Decisions& decisions);     // makes constants inside the regions that capture them
void drop_identities(graph::Graph& graph, Decisions& decisions);    // takes values from before ops that change nothing
void fold_constants(graph::Graph& graph, Decisions& decisions);     // computes what literals make
void simplify_shapes(graph::Graph& graph, Decisions& decisions);    // joins movement, and leaves repeating to what reads the repeated
void simplify_algebra(graph::Graph& graph, Decisions& decisions);   // drops arithmetic that changes no number
void deduplicate(graph::Graph& graph, Decisions& decisions);        // computes equal expressions once
void absorb_transposes(graph::Graph& graph, Decisions& decisions);  // makes transposes flags of the products beside them
void clean_gradients(graph::Graph& graph, Decisions& decisions);    // takes zeros and scatters out of sums of gradients
void expand_products(graph::Graph& graph, Decisions& decisions);    // makes products of vectors and tiny matrices loops like any other
void recompute(graph::Graph& graph, Decisions& decisions);          // computes cheap values again instead of keeping them for long

}  // namespace anyshape::passes
