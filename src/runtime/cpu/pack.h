// Copies of matrices in rows as far apart as a product reads them best.
#pragma once
#include <cstdint>

#include "runtime/cpu/pool.h"

namespace anyshape::runtime {

// to [rows, columns] = op(from), where op transposes if asked. Distances are those between rows as stored.
struct Packing {
  bool transpose = false;
  int64_t rows = 0, columns = 0;  // of the copy
  const float* from = nullptr;
  int64_t from_distance = 0;
  float* to = nullptr;
  int64_t to_distance = 0;
};

// On the pool, or on this thread inside a task.
void pack(Pool& pool, const Packing& packing);

}  // namespace anyshape::runtime
