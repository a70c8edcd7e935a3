// What a target's library of routines does for a program, with numbers and pointers: the calls of lower::LibraryCall. How work is cut into tasks
// follows from the sizes only, so that results have the same bits for any number of threads.
#pragma once
#include "loop/ir.h"
#include "loop/library_work.h"
#include "runtime/cpu/abi.h"

#include <span>

namespace anyshape::runtime {

// A block of a result that is seen as rows of its last axis.
struct ResultBlock {
  int64_t first_row, end_row, first_column, end_column;
};

// A kernel that runs on blocks of a result: its first sizes are the bounds of a block, the others are the same for all.
class BlockKernel {
 public:
  // `entry` null: the kernel is interpreted. `dims` begin with the bounds of the whole result.
  BlockKernel(const loop::Kernel& kernel, AsKernel entry, std::span<void* const> buffers, std::span<const int64_t> dims)
      : kernel_(kernel), entry_(entry), buffers_(buffers), dims_(dims) {}

  // On this thread. 0, or context->failure says what went wrong.
  int32_t run(AsContext* context, const ResultBlock& block) const;

 private:
  const loop::Kernel& kernel_;
  AsKernel entry_;
  std::span<void* const> buffers_;
  std::span<const int64_t> dims_;
};

struct ProductCall {
  bool transpose_a = false, transpose_b = false;
  ProductSizes<int64_t> sizes = {};
  const float *a = nullptr, *b = nullptr;
  float *c = nullptr, *packed = nullptr;  // packed: scratch where sizes.packs
  const BlockKernel* epilogue = nullptr;  // for each block of c, once it is written; null: nothing follows
};

class Library {
 public:
  virtual ~Library() = default;
  // 0, or context->failure says what went wrong.
  virtual int32_t multiply(AsContext* context, const ProductCall& call) const = 0;
};

// This machine's processor: tiles on the pool, through oneDNN.
const Library& processor_library();

}  // namespace anyshape::runtime
