// Rules that control ops share: a region's inputs are what its node gives it.
#pragma once
#include "graph/graph.h"
#include "graph/trace_scope.h"

namespace anyshape {

// The region's inputs from `first` on against these specs, one each: dtype, rank and sizes are the same.
void require_inputs(OpCall& call, std::string_view region, const graph::Graph& graph, size_t first, std::span<const TensorSpec> given);
// A value of the region that stands for `expected`: same dtype and rank, sizes equal or checked.
void require_spec(OpCall& call, const std::string& what, const TensorSpec& spec, const TensorSpec& expected);

std::vector<TensorSpec> specs_of(std::span<const Tensor> tensors);
// A further input and output of a region: hands a tensor from outside through.
void hand_through(Region& region, const Tensor& tensor);
// Casts a result that is a host number to this dtype, inside the region.
void settle_result(Region& region, size_t result, Dtype dtype);

}  // namespace anyshape
