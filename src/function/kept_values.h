// What a forward part keeps for its backward part. What is cheap to compute from what is there anyway is computed again.
#pragma once
#include "graph/graph.h"

#include <span>
#include <vector>

namespace anyshape::function_detail {

// Of the values that the first `forward` nodes make those to keep so that the gradients can be computed: from these, from the graph's inputs
// and from what nodes behind the forward part make. Values of nodes that draw or find a size are kept whatever they cost.
std::vector<graph::Value*> choose_kept(const graph::Graph& graph, size_t forward, std::span<graph::Value* const> gradients);

}  // namespace anyshape::function_detail
