// Of a loop: results, carried values and inputs that nothing needs. Part of removing dead code.
#pragma once
#include "graph/graph.h"

#include <functional>

namespace anyshape::passes {

// Removes from a scan node and its body what does not lead to a needed output. Nodes of the body that are dead then are left there.
// Whether there was anything to remove.
bool prune_scan(graph::Node& node, const std::function<bool(const graph::Value*)>& is_needed);

}  // namespace anyshape::passes
