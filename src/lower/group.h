// Grouping for fusion: which values are written to memory, and which ops are computed inside the loop of the one that uses them.
#pragma once
#include "graph/graph.h"

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace anyshape::lower {

struct Groups {
  std::unordered_set<const graph::Value*> in_memory;  // graph inputs aside
  std::vector<const graph::Node*> roots;              // nodes that get a kernel of their own, in order
};

Groups group(const graph::Graph& graph);

}  // namespace anyshape::lower
