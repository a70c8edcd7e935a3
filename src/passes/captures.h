// Which inputs of a control node its regions capture: values from around that are the same in every run of the region.
#pragma once
#include "graph/graph.h"

#include <vector>

namespace anyshape::passes {

struct Captures {
  graph::Graph* region;
  size_t inside;   // the first of them among the region's inputs
  size_t outside;  // and among the node's
  size_t count;
};
std::vector<Captures> captures_of(const graph::Node& node);

// Takes input `number` of the captures from the region and from the node.
void remove_capture(graph::Node& node, const Captures& captures, size_t number);

}  // namespace anyshape::passes
