// The processor's library: tiles on the pool, products through oneDNN.
#pragma once
#include "runtime/cpu/abi.h"
#include "runtime/cpu/pool.h"
#include "runtime/library.h"

namespace anyshape::runtime {

// A block of a result that is seen as rows of its last axis.
struct ResultBlock {
  int64_t first_row, end_row, first_column, end_column;
};

// What runs on each block of a result, on the thread that has written it. 0, or context->failure says what went wrong.
class BlockRun {
 public:
  virtual int32_t run(AsContext* context, const ResultBlock& block) const = 0;

 protected:
  ~BlockRun() = default;
};

// 0, or context->failure says what went wrong. `after` runs the epilogue of the call; null: nothing follows.
int32_t multiply(AsContext* context, const ProductCall& call, const BlockRun* after);

// Likewise.
int32_t convolve(AsContext* context, const ConvolutionCall& call, const BlockRun* after);

void sort(Pool& pool, const SortCall& call);

}  // namespace anyshape::runtime
