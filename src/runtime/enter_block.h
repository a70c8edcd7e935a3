// A block is entered before its items run: its sizes are evaluated, its checks made, its memory laid out.
#pragma once
#include "runtime/executable.h"
#include "runtime/record.h"

namespace anyshape::runtime {

// `symbols` are the values of the plan's symbols, or the table of the block around. The arguments are those of the whole program.
// ShapeError for a check of the block that fails.
void enter_block(const Executable& executable, int block, Record& record, const int64_t* symbols, std::span<const Tensor> arguments = {});

// A data-dependent size of the first block has become known: the sizes, checks and buffers that waited for it.
void learn_size(const Executable& executable, size_t number, int64_t value, Record& record);

// Bytes of a buffer of the program, in a block that has been entered.
int64_t bytes_of(const Executable& executable, int buffer, const Record& record);

}  // namespace anyshape::runtime
