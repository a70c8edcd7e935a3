// Parts of a graph as graphs of their own: their nodes and values are copies.
#pragma once
#include "graph/graph.h"

#include <memory>
#include <span>
#include <vector>

namespace anyshape::graph {

// The first `nodes` nodes, with all of the graph's inputs.
std::shared_ptr<Graph> cut_front(const Graph& graph, size_t nodes, std::span<Value* const> outputs);

struct CutBack {
  std::shared_ptr<Graph> graph;
  std::vector<size_t> inputs;  // of the graph that was cut out: which of the given ones they are
};
// What the outputs need beyond `given`, whose needed ones become inputs. InternalError for an input of the graph that is needed and not given.
CutBack cut_back(const Graph& graph, std::span<Value* const> given, std::span<Value* const> outputs);

}  // namespace anyshape::graph
