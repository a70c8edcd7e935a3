// Sorting one row: the routines sort_b8, sort_u8, sort_i32, sort_i64, sort_f32 and sort_f64 behind loop programs' calls.
//   pointers x, values, indices, keys; integers size, count, stride, descending
// Element j of the row is x[j * stride]; the first `count` in order go to values[j * stride], their j to indices[j * stride] (i32). `keys` is
// scratch memory: `size` words of 64 bits, twice as many for types of 8 bytes. Equal elements keep their order, NaN comes last.
#pragma once
#include "runtime/cpu/abi.h"

namespace anyshape::runtime {

template <class Element>
int32_t sort_row(AsContext* context, void* const* pointers, const int64_t* integers);

extern template int32_t sort_row<uint8_t>(AsContext*, void* const*, const int64_t*);
extern template int32_t sort_row<int32_t>(AsContext*, void* const*, const int64_t*);
extern template int32_t sort_row<int64_t>(AsContext*, void* const*, const int64_t*);
extern template int32_t sort_row<float>(AsContext*, void* const*, const int64_t*);
extern template int32_t sort_row<double>(AsContext*, void* const*, const int64_t*);

}  // namespace anyshape::runtime
