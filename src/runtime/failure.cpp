// Failures as errors.
#include "runtime/failure.h"

#include "graph/layer_path.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <limits>

namespace anyshape::runtime {
namespace {

[[noreturn]] void throw_of_op(const Failure& failure, const lower::IndexedOp& op, int64_t limit) {
  const std::string& place = op.place.empty() ? current_place() : op.place;
  if (failure.code == splits_out_of_order) {
    throw DataError(
        fmt::format("{}: row split {} at position {} is out of order; expected splits that begin at 0, never decrease and end at {}.{}",
                    op.name, failure.value, failure.index, limit, place));
  }
  if (failure.code == empty_row) {
    throw DataError(fmt::format("{}: row {} is empty; expected at least one element in every row.{}", op.name, failure.index, place));
  }
  if (failure.code == row_too_long) {
    throw ShapeError(fmt::format("{}: the mask ends before row {}, which has {} elements; expected a mask as long as the longest row.{}",
                                 op.name, failure.index, failure.value, place));
  }
  const int64_t least = op.rule.from_end ? -limit : 0;
  if (failure.value == std::numeric_limits<int32_t>::min()) {  // what layers and losses make of 0.5, which only a kernel has seen
    throw DataError(
        fmt::format("{}: the index at position {} is no whole number, or too large for one; expected whole numbers, {} <= index < "
                    "{}. Round floating ids, or give them as i32 or i64.{}",
                    op.name, failure.index, least, limit, place));
  }
  throw DataError(fmt::format("{}: index {} at position {} is out of range; expected {} <= index < {}.{}", op.name, failure.value,
                              failure.index, least, limit, place));
}

}  // namespace

void throw_failure(const Failure& failure, std::span<const lower::IndexedOp> ops, std::span<const std::vector<int>> limits,
                   std::span<const int64_t> table) {
  if (failure.code == rows_differ) {
    throw ShapeError(
        fmt::format("ragged operands: rows differ: row {} has {} elements in one and another number in the other; expected "
                    "operands with equal rows.{}",
                    failure.index, failure.value, current_place()));
  }
  for (size_t i = 0; i < ops.size(); ++i) {
    if (failure.code == routine_failed || ops[i].number != failure.op) continue;
    const std::vector<int>& slots = limits[i];
    throw_of_op(failure, ops[i], table[static_cast<size_t>(slots[static_cast<size_t>(failure.index) % slots.size()])]);
  }
  throw InternalError(
      fmt::format("a kernel failed with code {} (op {}, index {}, value {})", failure.code, failure.op, failure.index, failure.value));
}

}  // namespace anyshape::runtime
