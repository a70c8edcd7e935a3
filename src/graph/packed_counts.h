// How many rows each time step of a packed loop has: rows in the order of decreasing length, so never more than the step before.
#pragma once
#include <cstdint>
#include <span>

namespace anyshape {

// DataError where a step has more rows than the one before it or than there are, or where they do not add up to `total`.
void require_counts(std::span<const int64_t> counts, int64_t rows, int64_t total);

}  // namespace anyshape
