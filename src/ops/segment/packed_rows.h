// How rows of unequal length are walked step by step without padding: longest row first, step after step.
#pragma once
#include "tensor/partition.h"

namespace anyshape {

// In packed order stand the first steps of all rows that have one, then the second steps, and so on; within a step the rows by decreasing length,
// equal ones as they were. Step t of a row counts from its end where rows are walked backwards.
struct PackedRows {
  Tensor order;      // i64[rows]: the row that is walked at this index
  Tensor ranks;      // i64[rows]: the index of each row; take(take(x, order), ranks) is x
  Tensor positions;  // i64[total]: the value that stands at this index; take(values, positions) is packed
  Tensor indices;    // i64[total]: the index of each value; `take(packed, indices)` is values
  Tensor counts;     // i64[longest]: the rows that have a step t
};
PackedRows packed_rows(const Partition& partition, bool backwards);

}  // namespace anyshape
