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

// All ragged inputs in the rows of the first. ShapeError where their rows differ: at once, or where only a run knows them, when it runs.
struct CommonRows {
  std::shared_ptr<const Partition> partition;
  std::vector<Tensor> operands;
};
CommonRows common_rows(const RaggedCall& call);

// The values, held to rows: ShapeError when it runs where the two row splits differ. An op, and so made in ops/ragged.
Tensor same_rows(const Tensor& values, const Tensor& splits, const Tensor& expected);

}  // namespace anyshape
