// The one ordered list of passes.
#include "passes/run_passes.h"

#include "base/switches.h"

namespace anyshape::passes {

std::span<const Pass> all_passes() {
  static constexpr Pass passes[] = {
      {"drop_identities", drop_identities},
      {"deduplicate", deduplicate},
      {"remove_dead_code", remove_dead_code},
  };
  return passes;
}

void run_passes(graph::Graph& graph, Decisions& decisions) {
  for (const Pass& pass : all_passes()) {
    if (!is_switched_off(pass.name)) pass.run(graph, decisions);
  }
  graph::verify(graph);
}

}  // namespace anyshape::passes
