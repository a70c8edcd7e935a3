// What a run holds, before it runs: as a number for given sizes, and as an expression in them.
#pragma once
#include "runtime/executable.h"

#include <span>

namespace anyshape::runtime {

// Bytes that a run with these sizes takes from the allocator, all its blocks together: arenas and results. A region that is not entered,
// and a data-dependent size below its bound, take less.
int64_t peak_bytes(const Executable& executable, std::span<const int64_t> symbol_values);

struct Peak {
  Dim arena, results;  // bytes, before blocks are rounded up
};
Peak peak_of(const Executable& executable);

}  // namespace anyshape::runtime
