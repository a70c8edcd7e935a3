// What is combined in parts is combined in these, whatever the target: the numbers here decide the bits of results.
#pragma once
#include <cstdint>

namespace anyshape::loop {

// A Reduce starts its lanes anew after so many indices and adds them to those before: a lane adds 64 numbers at a time, which keeps rounding
// errors small, and a processor of many threads has pieces enough to begin with.
inline constexpr int64_t run_indices = 1024;

// A long row of elements is combined in parts of so many, each in 16 lanes, and the parts in order, so that rounding errors do not pile up.
inline constexpr int64_t part_elements = 16384;

// Along columns, rows are combined before others are added to them: as many as have so many elements, eight at least, so that what parts
// leave is small beside what they read.
inline constexpr int64_t column_part_elements = int64_t{4} * 16384, least_column_part_rows = 8;

}  // namespace anyshape::loop
