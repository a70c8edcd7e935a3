// Sorting one row.
#pragma once
#include <anyshape/dtype.h>

#include <cstdint>

namespace anyshape::runtime {

// Element j of the row is x[j * stride]; the first `count` in order go to values[j * stride], their j to indices[j * stride]. `keys` is scratch
// memory: SortWork::key_words() words of 64 bits for each of the `size` elements. Equal elements keep their order, NaN comes last.
struct SortedRow {
  const void* x;
  void* values;
  int32_t* indices;
  void* keys;
  int64_t size, count, stride;
  bool descending;
};
void sort_row(Dtype dtype, const SortedRow& row);  // of every dtype but f16 and bf16

}  // namespace anyshape::runtime
