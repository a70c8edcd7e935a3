// Graphs inside nodes: what passes, printing and verifying recurse into.
#pragma once
#include "graph/graph.h"

namespace anyshape::graph {

struct NamedRegion {
  std::string_view name;
  RegionGraph graph;
};

std::vector<NamedRegion> regions_of(const Attrs& attrs);
inline std::vector<NamedRegion> regions_of(const Node& node) { return regions_of(node.attrs); }

RegionGraph clone(const Graph& graph);  // the same nodes and values anew, those of regions, too
Attrs with_cloned_regions(const Attrs& attrs);
size_t count_nodes(const Graph& graph);  // those of regions, too

}  // namespace anyshape::graph
