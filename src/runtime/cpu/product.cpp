// Products stand below ExternCall: lowering asks for one, the kernel calls it, its tiles run on the pool. oneDNN's own threading is not used:
// it cuts by the number of threads, and so would its bits.
#include "runtime/cpu/product.h"

#include <dnnl.h>

#include <algorithm>
#include <atomic>
#include <bit>

#include "runtime/cpu/openmp.h"

namespace anyshape::runtime {
namespace {

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// One dimension being cut into equal pieces, each at least `least` long and a multiple of `unit`.
struct Cut {
  int64_t length, least, unit;
  int64_t pieces = 1;

  // Cuts into `most` pieces, or as many halvings of it as fit; returns how many more pieces were wanted, as a factor.
  int64_t into(int64_t most) {
    while (pieces < most && length >= 2 * pieces * least) pieces *= 2;
    return most / pieces;
  }
  int64_t size() const { return pieces == 1 ? length : std::min(length, divide_up(divide_up(length, pieces), unit) * unit); }
};

void scale_result(const Product& p) {
  if (p.beta == 1) return;
  for (int64_t i = 0; i < p.m; ++i) {
    float* row = p.c + i * p.ldc;
    if (p.beta == 0)
      std::fill_n(row, p.n, 0.0F);
    else
      std::transform(row, row + p.n, row, [&](float x) { return p.beta * x; });
  }
}

// The library packs the whole of a transposed b for 16 rows and more; below that it reads it in place. For few rows, or narrow results, packing
// costs more than it saves. Measured on one core, GFLOP/s whole and in strips of 8 rows (k 512): 16 x 128 53 and 97, 64 x 512 89 and 99,
// 128 x 512 99 and 104, 256 x 512 106 and 103, 32 x 64 32 and 107, 1000 x 64 86 and 103; with k 64 whole is better.
int64_t strip_of(const Product& p) {
  const bool in_strips = p.transpose_b && !p.transpose_a && p.m >= 16 && p.k >= 128 && (p.m <= 128 || p.n <= 64);
  return in_strips ? 8 : p.m;
}

// One column of b stands in memory as one row does. The library is faster with the column (32 x 1 x 128: 0.26 us and 0.91 us in strips), but
// for a product of two vectors (k 1000: 2.1 and 0.25 us, k 1000000: 2.0 and 0.14 ms).
void choose_vector_layout(Product& p) {
  if (p.n != 1 || (!p.transpose_b && p.ldb != 1)) return;
  p.transpose_b = p.m == 1;
  p.ldb = p.transpose_b ? p.k : 1;
}

bool run_tile(const Product& p, const Tiles& tiles, int64_t row, int64_t column) {
  Product tile = p;
  tile.m = std::min(tiles.rows, p.m - row);
  tile.n = std::min(tiles.columns, p.n - column);
  tile.a += p.transpose_a ? row : row * p.lda;
  tile.b += p.transpose_b ? column * p.ldb : column;
  tile.c += row * p.ldc + column;
  return product_on_this_thread(tile);
}

double flops_of(int64_t m, int64_t n, int64_t k) { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }

// A task below half a MFLOP costs more to hand over than it saves.
constexpr double least_flops = 5e5;

}  // namespace

Tiles tiles_of(int64_t m, int64_t n, int64_t k) {
  // Measured on two cores: two tiles suffice up to 24 MFLOP; eight are as good as two on large products as long as they stay large, and serve
  // more cores; only very large products want more.
  const double flops = flops_of(m, n, k);
  if (flops < least_flops) return {m, n};
  const double wanted = std::max(std::clamp(flops / 12e6, 2.0, 8.0), std::min(flops / 512e6, 64.0));
  const auto most = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(wanted)));
  // A tile of few rows packs all of b for little work; below 128 columns the library's kernels are only partly filled.
  const bool small_b = static_cast<double>(n) * static_cast<double>(k) <= 512 * 1024;
  Cut rows{m, small_b ? 32 : 128, 8}, columns{n, 128, 32};
  Cut& first = m >= n ? rows : columns;
  Cut& second = m >= n ? columns : rows;
  int64_t left = first.into(most);
  left = second.into(left);
  rows.least = columns.least = 32;  // narrow products are cut all the same, into two
  if (left == most && most > 1) first.into(2);
  return {rows.size(), columns.size()};
}

ProductPlan plan_product(bool transposed, int64_t m, int64_t n, int64_t k) {
  if (m <= 0 || n <= 0) return {{1, 1}, 1, 1};
  const Tiles tiles = tiles_of(m, n, k);
  // Whole operands are read where they stand, so fewer rows cost nothing; a transposed one is packed again for every block.
  const int64_t bytes = transposed ? 1024 * 1024 : 256 * 1024, fitting = bytes / (tiles.columns * static_cast<int64_t>(sizeof(float)));
  const Cut rows{tiles.rows, 1, 8, divide_up(tiles.rows, std::max<int64_t>(fitting, transposed ? 256 : 32))};
  const double tiles_of_a_task = least_flops / std::max(flops_of(tiles.rows, tiles.columns, k), 1.0);
  return {tiles, rows.size(), std::max<int64_t>(static_cast<int64_t>(tiles_of_a_task), 1)};
}

bool product_on_this_thread(const Product& asked) {
  Product p = asked;
  if (p.m <= 0 || p.n <= 0) return true;
  if (p.k <= 0) {
    scale_result(p);
    return true;
  }
  choose_vector_layout(p);
  // The distance between the rows of a matrix of one row means nothing, but oneDNN refuses one shorter than the row.
  if ((p.transpose_a ? p.k : p.m) == 1) p.lda = std::max(p.lda, p.transpose_a ? p.m : p.k);
  if ((p.transpose_b ? p.n : p.k) == 1) p.ldb = std::max(p.ldb, p.transpose_b ? p.k : p.n);
  if (p.m == 1) p.ldc = std::max(p.ldc, p.n);
  const OneOpenMpThread one_thread;
  const int64_t strip = strip_of(p);
  for (int64_t begin = 0; begin < p.m;) {
    const int64_t left = p.m - begin, rows = left < 2 * strip ? left : strip;  // the last strip takes what is left
    const float* a = p.a + (p.transpose_a ? begin : begin * p.lda);
    if (dnnl_sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', rows, p.n, p.k, 1.0F, a, p.lda, p.b, p.ldb, p.beta,
                   p.c + begin * p.ldc, p.ldc) != dnnl_success)
      return false;
    begin += rows;
  }
  return true;
}

bool product(Pool& pool, const Product& p) {
  if (p.m <= 0 || p.n <= 0) return true;
  const Tiles tiles = tiles_of(p.m, p.n, p.k);
  const int64_t across = divide_up(p.n, tiles.columns);
  std::atomic<bool> all_ran{true};
  pool.run(divide_up(p.m, tiles.rows) * across, 1, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile)
      if (!run_tile(p, tiles, tile / across * tiles.rows, tile % across * tiles.columns)) all_ran.store(false, std::memory_order_relaxed);
  });
  return all_ran.load(std::memory_order_relaxed);
}

}  // namespace anyshape::runtime
