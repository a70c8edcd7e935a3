// What generated code and the interpreter reach from a kernel: library routines by name, and the function behind AsContext::parallel.
// Nothing here throws: a failure fills context->failure and comes back as a non-zero result, since machine code stands in between.
#pragma once
#include <string_view>

#include "runtime/cpu/abi.h"
#include "runtime/cpu/pool.h"
#include "runtime/failure.h"

namespace anyshape::runtime {

// The routine of that name (see the list below), nullptr where there is none. Fits loop::ExternLookup.
//   product_f32        pointers a, b, c; integers transpose_a, transpose_b, m, n, k, lda, ldb, ldc, beta (0 or 1)
//   check_indices_i32  pointers indices; integers count, least, limit, op number, first, stride: indices first, first + stride, ... below count
//                      lie in [least, limit)
//   check_indices_i64  the same
//   check_splits       pointers splits; integers rows, total, are empty rows allowed, op number: rows + 1 splits begin at 0, never decrease
//                      and end at the total
//   check_same_splits  pointers splits, others; integers count, op number: as many splits are equal. Both begin at 0.
//   check_row_lengths  pointers splits; integers rows, limit, op number: no row is longer than the limit
//   join_parts         pointers target, sources; integers number of sources, rows, distance between rows of the target, bytes of an element,
//                      elements of each source in a row
AsExtern find_extern(std::string_view name);

// Runs `body` over [begin, end) in parts of at least `grain` on context->pool. All parts run; the result is that of the lowest part that
// did not give 0, and context->failure the lowest failing op, whatever the number of threads.
int32_t parallel(AsContext* context, AsBody body, void* const* buffers, const int64_t* dims, const int64_t* frame, int64_t begin,
                 int64_t end, int64_t grain);

// A context of this machine's processor without failure, random key and call id 0.
AsContext make_context(Pool& pool);

// Keeps the failure of the lowest op, and of the lowest index within it. Tasks of one region may call it at the same time.
void record_failure(AsContext* context, const AsFailure& failure);

// Records that a routine refused what it was asked for, and gives the status that says so.
int32_t fail_routine(AsContext* context);

}  // namespace anyshape::runtime
