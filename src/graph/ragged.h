// Ragged inputs at the entrance of ops: graph, shape rules and gradients see dense tensors only.
#pragma once
#include "graph/op_def.h"
#include "tensor/partition.h"

namespace anyshape {

// The call by the op's ragged policy.
std::vector<Tensor> bind_ragged(const RaggedCall& call);

// "a is f32[3, (2..4)], b is f32[3]"
std::string describe_inputs(const RaggedCall& call);
[[noreturn]] void refuse(const RaggedCall& call, std::string_view what, std::string_view expected);  // ShapeError

// The partition of all ragged inputs. ShapeError where their rows differ.
std::shared_ptr<const Partition> common_partition(const RaggedCall& call);

}  // namespace anyshape
