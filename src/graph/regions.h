// Graphs inside nodes: what passes, printing and verifying recurse into.
#pragma once
#include "graph/graph.h"

namespace anyshape::graph {

struct NamedRegion {
  std::string_view name;
  RegionGraph graph;
};

std::vector<NamedRegion> regions_of(const Attrs& attrs);
// Other ops than those of control flow have none: their attributes need not be looked at.
inline std::vector<NamedRegion> regions_of(const Node& node) {
  return node.op->kind == OpKind::Control ? regions_of(node.attrs) : std::vector<NamedRegion>{};
}

RegionGraph clone(const Graph& graph);  // the same nodes and values anew, those of regions, too
Attrs with_cloned_regions(const Attrs& attrs);
size_t count_nodes(const Graph& graph);  // those of regions, too

}  // namespace anyshape::graph
