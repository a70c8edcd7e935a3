// Products stand below ExternCall: lowering asks for one, the kernel calls it, its tiles run on the pool. oneDNN's own threading is not used:
// it cuts by the number of threads, and so would its bits.
#include "runtime/product.h"

#include <dnnl.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/float_state.h"

namespace anyshape::runtime {
namespace {

// oneDNN stays on this thread; the caller's own OpenMP setting comes back.
class OneOpenMpThread {
 public:
  OneOpenMpThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneOpenMpThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

 private:
  int before_;
};

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

void scale_result(const Product& p) {
  if (p.beta == 1) return;
  for (int64_t i = 0; i < p.m; ++i) {
    float* row = p.c + i * p.ldc;
    if (p.beta == 0) std::fill_n(row, p.n, 0.0F);
    else std::transform(row, row + p.n, row, [&](float x) { return p.beta * x; });
  }
}

bool run_tile(const Product& p, const Tiles& tiles, int64_t row, int64_t column) {
  const OneOpenMpThread one_thread;
  const int64_t m = std::min(tiles.rows, p.m - row), n = std::min(tiles.columns, p.n - column);
  const float* a = p.a + (p.transpose_a ? row : row * p.lda);
  const float* b = p.b + (p.transpose_b ? column * p.ldb : column);
  return dnnl_sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', m, n, p.k, 1.0F, a, p.lda, b, p.ldb, p.beta,
                    p.c + row * p.ldc + column, p.ldc) == dnnl_success;
}

}  // namespace

Tiles tiles_of(int64_t m, int64_t n, int64_t k) {
  const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  (void)flops;
  return {m, n};
}

bool product(Pool& pool, const Product& p) {
  if (p.m <= 0 || p.n <= 0) return true;
  if (p.k <= 0) {
    const FlushDenormals flush;
    scale_result(p);
    return true;
  }
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
