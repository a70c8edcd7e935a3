// The one ordered list of passes.
#include "passes/run_passes.h"

#include "base/environment.h"
#include "base/switches.h"
#include "graph/regions.h"
#include "graph/text.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>

namespace anyshape::passes {
namespace {

bool verifies_each() {
#ifndef NDEBUG
  return true;
#else
  static const bool asked = [] {
    const char* const given = std::getenv("ANYSHAPE_VERIFY");
    return given != nullptr && means_on(given);
  }();
  return asked;
#endif
}

PassReport run(const Pass& pass, graph::Graph& graph, Decisions& decisions) {
  using Clock = std::chrono::steady_clock;
  const size_t earlier = decisions.size();
  PassReport report{.name = pass.name, .nodes_before = graph::count_nodes(graph)};
  const Clock::time_point start = Clock::now();
  pass.run(graph, decisions);
  report.microseconds = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
  report.nodes_after = graph::count_nodes(graph);
  const auto own = decisions.begin() + static_cast<std::ptrdiff_t>(earlier);
  report.rewrites = static_cast<size_t>(std::count_if(own, decisions.end(), [](const Decision& decision) { return decision.yes; }));
  return report;
}

}  // namespace

std::span<const Pass> all_passes() {
  static constexpr Pass passes[] = {
      // First what is there for nothing, so that the others have less to look at.
      {"remove_dead_code", remove_dead_code},
      {"sink_constants", sink_constants},
      {"drop_identities", drop_identities},
      {"fold_constants", fold_constants},
      {"simplify_shapes", simplify_shapes},
      {"simplify_algebra", simplify_algebra},
      {"deduplicate", deduplicate},
      {"absorb_transposes", absorb_transposes},
      {"clean_gradients", clean_gradients},
      {"expand_products", expand_products},
      // Again, for what the others made.
      {"simplify_shapes", simplify_shapes},
      {"fold_constants", fold_constants},
      {"deduplicate", deduplicate},
      {"recompute", recompute},
      {"remove_dead_code", remove_dead_code},
  };
  return passes;
}

PassReports run_passes(graph::Graph& graph, Decisions& decisions, Dump* dump) {
  const auto show = [&](std::string_view stage) {
    if (dump != nullptr && dump->is_on()) dump->write(stage, graph::print(graph));
  };
  PassReports reports;
  show("trace");
  for (const Pass& pass : all_passes()) {
    if (is_switched_off(pass.name)) continue;
    reports.push_back(run(pass, graph, decisions));
    show(pass.name);
    if (verifies_each()) graph::verify(graph);
  }
  if (!verifies_each()) graph::verify(graph);
  return reports;
}

}  // namespace anyshape::passes
