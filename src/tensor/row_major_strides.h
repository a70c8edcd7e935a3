// Strides of elements that stand one after the other, the last axis fastest.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

namespace anyshape {

// One stride for each size.
inline void set_row_major_strides(std::span<const int64_t> sizes, std::span<int64_t> strides) {
  int64_t stride = 1;
  for (size_t axis = sizes.size(); axis-- > 0;) {
    strides[axis] = stride;
    // Only a tensor without elements can overflow here, and its strides are never used.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(sizes[axis], 1), &stride)) stride = 0;
  }
}

}  // namespace anyshape
