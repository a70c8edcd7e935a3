// The processor's library: work is cut into tasks of the pool, and what follows a product runs on each block while it is in cache.
#include "runtime/cpu/cpu_library.h"

#include "runtime/cpu/externs.h"
#include "runtime/cpu/pack.h"
#include "runtime/cpu/pool.h"
#include "runtime/cpu/product.h"
#include "runtime/cpu/sort.h"

#include <algorithm>
#include <atomic>

namespace anyshape::runtime {
namespace {

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Batch entry after batch entry, tile by tile, each written in blocks of rows that are handed on while they are in cache.
class TiledProduct {
 public:
  TiledProduct(AsContext* context, const ProductCall& call, const BlockRun* after)
      : context_(context),
        call_(call),
        after_(after),
        sizes_(call.sizes),
        is_packed_(sizes_.packs != 0),
        plan_(plan_product(call.transpose_a || (call.transpose_b && !is_packed_), sizes_.m, sizes_.n, sizes_.k)),
        down_(divide_up(sizes_.m, plan_.tiles.rows)),
        across_(divide_up(sizes_.n, plan_.tiles.columns)) {}

  int32_t run() {
    Pool& pool = *static_cast<Pool*>(context_->pool);
    if (is_packed_) copy_b(pool);
    int64_t tasks = down_ * across_;
    for (size_t axis = 0; axis < static_cast<size_t>(sizes_.axes); ++axis) tasks *= sizes_.batch[axis].size;
    if (tasks <= plan_.tiles_of_a_task) return run_tiles(0, tasks);
    std::atomic<int32_t> status{0};
    pool.run(tasks, plan_.tiles_of_a_task, [&](int64_t begin, int64_t end) {
      if (const int32_t failed = run_tiles(begin, end); failed != 0) status.store(failed, std::memory_order_relaxed);
    });
    return status.load(std::memory_order_relaxed);
  }

 private:
  void copy_b(Pool& pool) const {
    pack(pool, {.transpose = call_.transpose_b,
                .rows = sizes_.k,
                .columns = sizes_.n,
                .from = call_.b,
                .from_distance = sizes_.distance_b,
                .to = call_.packed,
                .to_distance = sizes_.packed_distance});
  }

  int32_t run_tiles(int64_t begin, int64_t end) const {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t tile = task % (down_ * across_);
      if (const int32_t status = run_tile(task / (down_ * across_), tile / across_, tile % across_); status != 0) return status;
    }
    return 0;
  }

  int32_t run_tile(int64_t entry, int64_t down, int64_t across) const {
    const int64_t first_row = down * plan_.tiles.rows, end_row = std::min(first_row + plan_.tiles.rows, sizes_.m);
    const int64_t first_column = across * plan_.tiles.columns, end_column = std::min(first_column + plan_.tiles.columns, sizes_.n);
    int64_t from_a = 0, from_b = 0, rest = entry;
    for (auto axis = static_cast<size_t>(sizes_.axes); axis-- > 0; rest /= sizes_.batch[axis].size) {
      const int64_t index = rest % sizes_.batch[axis].size;
      from_a += index * sizes_.batch[axis].step_a;
      from_b += index * sizes_.batch[axis].step_b;
    }
    Product block{.transpose_a = call_.transpose_a,
                  .transpose_b = call_.transpose_b && !is_packed_,
                  .n = end_column - first_column,
                  .k = sizes_.k,
                  .lda = sizes_.distance_a,
                  .ldb = is_packed_ ? sizes_.packed_distance : sizes_.distance_b,
                  .ldc = sizes_.n};
    block.b = is_packed_ ? call_.packed : call_.b + from_b;
    block.b += block.transpose_b ? first_column * block.ldb : first_column;
    for (int64_t row = first_row; row < end_row; row += plan_.block_rows) {
      const int64_t end = std::min(row + plan_.block_rows, end_row), row_of_c = entry * sizes_.m + row;
      block.m = end - row;
      block.a = call_.a + from_a + (block.transpose_a ? row : row * block.lda);
      block.c = call_.c + row_of_c * sizes_.n + first_column;
      if (!product_on_this_thread(block)) return fail_routine(context_);
      if (after_ == nullptr) continue;
      const int32_t status = after_->run(context_, {row_of_c, row_of_c + block.m, first_column, end_column});
      if (status != 0) return status;
    }
    return 0;
  }

  AsContext* context_;
  const ProductCall& call_;
  const BlockRun* after_;
  const ProductSizes<int64_t>& sizes_;
  bool is_packed_;
  ProductPlan plan_;
  int64_t down_, across_;  // tiles of an entry
};

// Rows one by one: the keys of each stand in scratch memory where the row stands, so that nothing is allocated on the way.
class SortedRows {
 public:
  explicit SortedRows(const SortCall& call) : call_(call), element_(size_of(call.dtype)), key_(SortWork::key_words(call.dtype) * 8) {}

  void run(Pool& pool) const {
    constexpr int64_t task_elements = 2048;
    const int64_t rows = call_.sizes.outer * call_.sizes.inner;
    const int64_t mean = call_.splits == nullptr ? call_.sizes.size : call_.sizes.size / std::max<int64_t>(call_.sizes.outer, 1);
    pool.run(rows, std::max<int64_t>(task_elements / std::max<int64_t>(mean, 1), 1), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) sort(row / call_.sizes.inner, row % call_.sizes.inner);
    });
  }

 private:
  void sort(int64_t outer, int64_t inner) const {
    const SortSizes<int64_t>& sizes = call_.sizes;
    const bool by_splits = call_.splits != nullptr;
    const int64_t first = by_splits ? call_.splits[outer] : outer * sizes.size;  // along the axis, of all rows
    const int64_t size = by_splits ? call_.splits[outer + 1] - first : sizes.size;
    if (size == 0) return;
    const int64_t from = first * sizes.inner + inner, to = (by_splits ? first : outer * sizes.count) * sizes.inner + inner;
    sort_row(call_.dtype, {.x = static_cast<const char*>(call_.x) + from * element_,
                           .values = static_cast<char*>(call_.values) + to * element_,
                           .indices = call_.indices + to,
                           .keys = static_cast<char*>(call_.keys) + (first * sizes.inner + inner * size) * key_,
                           .size = size,
                           .count = by_splits ? size : sizes.count,
                           .stride = sizes.inner,
                           .descending = call_.descending});
  }

  const SortCall& call_;
  int64_t element_, key_;  // bytes
};

}  // namespace

int32_t multiply(AsContext* context, const ProductCall& call, const BlockRun* after) { return TiledProduct(context, call, after).run(); }

void sort(Pool& pool, const SortCall& call) { SortedRows(call).run(pool); }

}  // namespace anyshape::runtime
