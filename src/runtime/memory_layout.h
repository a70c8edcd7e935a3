// Memory of a block's buffers, once their sizes are known: one arena per stage, cut into slots, and a buffer for each result.
#pragma once
#include "runtime/record.h"
#include "runtime/size_plan.h"

#include <anyshape/tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace anyshape::runtime {

// Of the slots of one stage, one after the other; `offsets` are filled where they are asked for.
int64_t arena_bytes(const BlockSizes& sizes, int stage, const std::vector<int64_t>& table, std::vector<int64_t>* offsets);

// Where the buffers of a block are whose sizes are known from this stage on. The arguments are those of the whole program.
void lay_out(const lower::Program& program, const SizePlan& sizes, Memory& memory, int block, int stage, Record& record,
             std::span<const Tensor> arguments);

}  // namespace anyshape::runtime
