// Tensors one after the other in one: copies, for which no kernel is made, whatever their number.
#pragma once
#include "runtime/cpu/pool.h"

#include <anyshape/tensor.h>

#include <cstdint>
#include <span>

namespace anyshape::runtime {

// Dense tensors with values, of one dtype, one after the other along an axis of the result, whose sizes are given: parts agree in all that
// stands before the axis and behind it (concat), or each is one entry of it (stack). Large ones are copied on the pool.
Tensor join(std::span<const Tensor> parts, std::span<const int64_t> sizes, int axis);

// The same for kernels: row-major parts, of which each has a run of so many bytes in every row. Asks nobody for memory.
struct JoinedRuns {
  int64_t parts = 0;
  int64_t rows = 0;
  int64_t row_distance = 0;  // of the target, in elements: other parts may stand beside these
  int64_t element_bytes = 1;
  const int64_t* lengths = nullptr;  // of the runs, in elements
  void* const* sources = nullptr;
  char* target = nullptr;
};
void join(Pool& pool, const JoinedRuns& runs);

}  // namespace anyshape::runtime
