// The routines behind loop programs' calls, and parallel loops on the pool.
#include "runtime/cpu/externs.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <tuple>
#include <utility>

#include "loop/routines.h"
#include "runtime/cpu/join.h"
#include "runtime/cpu/product.h"

namespace anyshape::runtime {
namespace {

Pool& pool_of(const AsContext* context) { return *static_cast<Pool*>(context->pool); }

Product product_of(void* const* pointers, const int64_t* integers) {
  return {.transpose_a = integers[0] != 0,
          .transpose_b = integers[1] != 0,
          .m = integers[2],
          .n = integers[3],
          .k = integers[4],
          .a = static_cast<const float*>(pointers[0]),
          .lda = integers[5],
          .b = static_cast<const float*>(pointers[1]),
          .ldb = integers[6],
          .beta = static_cast<float>(integers[8]),
          .c = static_cast<float*>(pointers[2]),
          .ldc = integers[7]};
}

int32_t product_f32(AsContext* context, void* const* pointers, const int64_t* integers) {
  return product(pool_of(context), product_of(pointers, integers)) ? 0 : fail_routine(context);
}

template <class Index>
int32_t check_indices(AsContext* context, void* const* pointers, const int64_t* integers) {
  const auto* indices = static_cast<const Index*>(pointers[0]);
  const int64_t count = integers[0], least = integers[1], limit = integers[2], first = integers[4], stride = integers[5];
  for (int64_t i = first; i < count; i += stride) {
    const int64_t index = indices[i];
    if (index >= least && index < limit) continue;
    record_failure(context, {.code = index_out_of_range, .op = static_cast<int32_t>(integers[3]), .index = i, .value = index});
    return 1;
  }
  return 0;
}

int32_t check_splits(AsContext* context, void* const* pointers, const int64_t* integers) {
  const auto* splits = static_cast<const int64_t*>(pointers[0]);
  const int64_t rows = integers[0], total = integers[1];
  const bool empty_rows = integers[2] != 0;
  const auto fail = [&](int32_t code, int64_t index) {
    record_failure(context, {.code = code, .op = static_cast<int32_t>(integers[3]), .index = index, .value = splits[index]});
    return 1;
  };
  if (splits[0] != 0) return fail(splits_out_of_order, 0);
  for (int64_t row = 0; row < rows; ++row) {
    if (splits[row + 1] < splits[row]) return fail(splits_out_of_order, row + 1);
    if (!empty_rows && splits[row + 1] == splits[row]) return fail(empty_row, row);
  }
  return splits[rows] == total ? 0 : fail(splits_out_of_order, rows);
}

int32_t check_same_splits(AsContext* context, void* const* pointers, const int64_t* integers) {
  const auto *given = static_cast<const int64_t*>(pointers[0]), *wanted = static_cast<const int64_t*>(pointers[1]);
  for (int64_t i = 0; i < integers[0]; ++i) {
    if (given[i] == wanted[i]) continue;
    record_failure(context,
                   {.code = rows_differ, .op = static_cast<int32_t>(integers[1]), .index = i - 1, .value = given[i] - given[i - 1]});
    return 1;
  }
  return 0;
}

int32_t check_row_lengths(AsContext* context, void* const* pointers, const int64_t* integers) {
  const auto* splits = static_cast<const int64_t*>(pointers[0]);
  for (int64_t row = 0; row < integers[0]; ++row) {
    const int64_t length = splits[row + 1] - splits[row];
    if (length <= integers[1]) continue;
    record_failure(context, {.code = row_too_long, .op = static_cast<int32_t>(integers[2]), .index = row, .value = length});
    return 1;
  }
  return 0;
}

int32_t join_parts(AsContext* context, void* const* pointers, const int64_t* integers) {
  join(pool_of(context), {.parts = integers[0],
                          .rows = integers[1],
                          .row_distance = integers[2],
                          .element_bytes = integers[3],
                          .lengths = integers + 4,
                          .sources = pointers + 1,
                          .target = static_cast<char*>(pointers[0])});
  return 0;
}

// In the order of loop::routine::all.
constexpr std::array<std::pair<const loop::Routine*, AsExtern>, loop::routine::all.size()> routines{{
    {&loop::routine::product_f32, product_f32},
    {&loop::routine::check_indices_i32, check_indices<int32_t>},
    {&loop::routine::check_indices_i64, check_indices<int64_t>},
    {&loop::routine::check_splits, check_splits},
    {&loop::routine::check_same_splits, check_same_splits},
    {&loop::routine::check_row_lengths, check_row_lengths},
    {&loop::routine::join_parts, join_parts},
}};
static_assert(std::ranges::equal(routines, loop::routine::all, {}, [](const auto& each) { return each.first; }));

}  // namespace

int32_t fail_routine(AsContext* context) {
  record_failure(context, {.code = routine_failed, .op = -1, .index = 0, .value = 0});
  return 1;
}

AsExtern find_extern(std::string_view name) {
  const auto found = std::ranges::find(routines, name, [](const auto& each) { return each.first->name; });
  return found == routines.end() ? nullptr : found->second;
}

int32_t parallel(AsContext* context, AsBody body, void* const* buffers, const int64_t* dims, const int64_t* frame, int64_t begin,
                 int64_t end, int64_t grain) {
  if (begin >= end) return 0;
  if (end - begin <= grain) return body(context, buffers, dims, frame, begin, end);
  std::mutex mutex;
  int64_t lowest = end;  // where the lowest failing part begins
  int32_t result = 0;
  pool_of(context).run(end - begin, grain, [&](int64_t part_begin, int64_t part_end) {
    const int32_t status = body(context, buffers, dims, frame, begin + part_begin, begin + part_end);
    if (status == 0) return;
    const std::lock_guard lock(mutex);
    if (begin + part_begin >= lowest) return;
    lowest = begin + part_begin;
    result = status;
  });
  return result;
}

AsContext make_context(Pool& pool) {
  return {.device = 0, .stream = nullptr, .pool = &pool, .parallel = parallel, .random_key = 0, .call_id = 0, .failure = {}};
}

void record_failure(AsContext* context, const AsFailure& failure) {
  static std::mutex mutex;  // one for all contexts: failures are rare
  const std::lock_guard lock(mutex);
  AsFailure& kept = context->failure;
  if (kept.code == 0 || std::tie(failure.op, failure.index) < std::tie(kept.op, kept.index)) kept = failure;
}

}  // namespace anyshape::runtime
