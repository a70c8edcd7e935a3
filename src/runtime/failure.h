// What a kernel that fails leaves behind, and the error that a user sees of it.
#pragma once
#include "lower/program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace anyshape::runtime {

// Of a run: the lowest failing op, where in it, and the offending value.
struct Failure {
  int32_t code = 0;  // 0: none
  int32_t op = 0;
  int64_t index = 0;
  int64_t value = 0;
};

// Failure::code
inline constexpr int32_t index_out_of_range = 1;
inline constexpr int32_t routine_failed = 2;  // op is -1: the routine does not know which one it serves
inline constexpr int32_t splits_out_of_order = 3;
inline constexpr int32_t empty_row = 4;     // where there must be none; index is the row
inline constexpr int32_t rows_differ = 5;   // index is the row, value its length
inline constexpr int32_t row_too_long = 6;  // index is the row, value its length

// DataError or ShapeError with the op's name and place. `ops` are those of the block that failed, `limits` where each one's are in its table of sizes.
[[noreturn]] void throw_failure(const Failure& failure, std::span<const lower::IndexedOp> ops, std::span<const std::vector<int>> limits,
                                std::span<const int64_t> table);

}  // namespace anyshape::runtime
