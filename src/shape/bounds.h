// Lower bounds that interval arithmetic alone does not find: rows - min(rows, 3) is never negative.
#pragma once
#include <anyshape/dim.h>

#include <cstdint>
#include <span>

namespace anyshape {

// The best lower bound found, given sizes that are known to be 0 or more; Range::minus_infinity where there is none.
int64_t proved_lower_bound(const Dim& dim, std::span<const Dim> not_negative = {});

}  // namespace anyshape
