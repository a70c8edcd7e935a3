// The tables of docs/internals/experiments/products.md: library products on one thread, in blocks of rows, with rows further apart, and
// with b copied first.
#include "base/float_state.h"
#include "runtime/cpu/pack.h"
#include "runtime/cpu/product.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

using anyshape::runtime::Product;
using anyshape::runtime::ProductPlan;

namespace {

struct Sizes {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
};
struct Padding {
  int64_t a, b, c;
};

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// GFLOP/s of the product, written `rows` at a time.
double measure(const Sizes& s, int64_t rows, const Padding& padding) {
  const int64_t lda = (s.transpose_a ? s.m : s.k) + padding.a, ldb = (s.transpose_b ? s.k : s.n) + padding.b, ldc = s.n + padding.c;
  const std::vector<float> a(static_cast<size_t>((s.transpose_a ? s.k : s.m) * lda), 1.0F),
      b(static_cast<size_t>((s.transpose_b ? s.n : s.k) * ldb), 1.0F);
  std::vector<float> c(static_cast<size_t>(s.m * ldc));
  double best = 1e9;
  for (int run = 0; run < 4; ++run) {
    const auto start = std::chrono::steady_clock::now();
    for (int64_t row = 0; row < s.m; row += rows) {
      const Product block{.transpose_a = s.transpose_a,
                          .transpose_b = s.transpose_b,
                          .m = std::min(rows, s.m - row),
                          .n = s.n,
                          .k = s.k,
                          .a = a.data() + (s.transpose_a ? row : row * lda),
                          .lda = lda,
                          .b = b.data(),
                          .ldb = ldb,
                          .beta = 0,
                          .c = c.data() + row * ldc,
                          .ldc = ldc};
      if (!anyshape::runtime::product_on_this_thread(block)) std::exit(1);
    }
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k) / best / 1e9;
}

// The same as products run, in the blocks of their plan, with b in place or copied first: the copy's time is part of it. Time of this thread,
// so that others on the machine count little; the second cache is cold, as a step leaves it.
double measure_planned(const Sizes& s, bool copied) {
  const int64_t lda = s.transpose_a ? s.m : s.k, ldb = s.transpose_b ? s.k : s.n, distance = (s.n + 15) / 32 * 32 + 16;
  const std::vector<float> a(static_cast<size_t>(s.m * s.k), 1.0F), b(static_cast<size_t>(s.k * s.n), 1.0F);
  std::vector<float> c(static_cast<size_t>(s.m * s.n)), copy(static_cast<size_t>(s.k * distance));
  anyshape::runtime::Pool pool(1);
  const ProductPlan plan = anyshape::runtime::plan_product(s.transpose_a || (s.transpose_b && !copied), s.m, s.n, s.k);
  std::vector<float> others(3 * 1024 * 1024);
  double best = 1e9;
  for (int run = 0; run < 15; ++run) {
    for (float& other : others) other += 1.0F;
    const double start = thread_seconds();
    if (copied)
      pack(pool, {.transpose = s.transpose_b,
                  .rows = s.k,
                  .columns = s.n,
                  .from = b.data(),
                  .from_distance = ldb,
                  .to = copy.data(),
                  .to_distance = distance});
    for (int64_t row = 0, rows = 0; row < s.m; row += rows) {
      rows = std::min({plan.block_rows, plan.tiles.rows - row % plan.tiles.rows, s.m - row});
      for (int64_t column = 0; column < s.n; column += plan.tiles.columns) {
        const float* const in_place = b.data() + (s.transpose_b ? column * ldb : column);
        const Product block{.transpose_a = s.transpose_a,
                            .transpose_b = s.transpose_b && !copied,
                            .m = rows,
                            .n = std::min(plan.tiles.columns, s.n - column),
                            .k = s.k,
                            .a = a.data() + (s.transpose_a ? row : row * lda),
                            .lda = lda,
                            .b = copied ? copy.data() + column : in_place,
                            .ldb = copied ? distance : ldb,
                            .beta = 0,
                            .c = c.data() + row * s.n + column,
                            .ldc = s.n};
        if (!product_on_this_thread(block)) std::exit(1);
      }
    }
    best = std::min(best, thread_seconds() - start);
  }
  return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k) / best / 1e9;
}

void print_name(const Sizes& s) {
  std::printf("%c%c %ld x %ld x %ld:", s.transpose_a ? 'T' : 'N', s.transpose_b ? 'T' : 'N', s.m, s.n, s.k);
}

}  // namespace

int main() {
  const anyshape::FlushDenormals flush;
  std::printf("blocks of rows, GFLOP/s\n");
  for (const Sizes& s : {Sizes{false, false, 4096, 256, 1024}, Sizes{false, false, 4096, 256, 256}, Sizes{false, false, 4096, 1024, 256},
                         Sizes{false, true, 4096, 1024, 256}, Sizes{false, true, 4096, 256, 1024}, Sizes{false, true, 4096, 256, 256},
                         Sizes{true, false, 256, 1024, 4096}, Sizes{true, false, 1024, 256, 4096}}) {
    print_name(s);
    for (const int64_t rows : {s.m, int64_t{512}, int64_t{256}, int64_t{128}, int64_t{64}, int64_t{32}})
      std::printf(" %ld rows %.0f", rows, measure(s, rows, {}));
    std::printf("\n");
  }
  std::printf("16 floats more between rows of a, b, the result, all; GFLOP/s in blocks of 512 rows\n");
  for (const Sizes& s : {Sizes{false, false, 2048, 1024, 256}, Sizes{false, false, 2048, 256, 1024}, Sizes{false, false, 2048, 512, 512},
                         Sizes{false, false, 2048, 1000, 256}, Sizes{true, false, 256, 1024, 2048}, Sizes{true, false, 1024, 256, 2048}}) {
    print_name(s);
    for (const Padding& padding : {Padding{0, 0, 0}, Padding{16, 0, 0}, Padding{0, 16, 0}, Padding{0, 0, 16}, Padding{16, 16, 16}})
      std::printf(" %.0f", measure(s, 512, padding));
    std::printf("\n");
  }
  std::printf("b in place and copied first, GFLOP/s with the copy for 64, 128, 256, 512, 1024 and 2048 rows\n");
  for (const Sizes& s :
       {Sizes{false, false, 0, 1024, 256}, Sizes{false, false, 0, 1024, 64}, Sizes{false, false, 0, 4096, 512},
        Sizes{false, true, 0, 1024, 256}, Sizes{false, true, 0, 256, 1024}, Sizes{false, true, 0, 256, 256},
        Sizes{false, true, 0, 512, 512}, Sizes{false, true, 0, 1000, 300}, Sizes{false, true, 0, 64, 64}, Sizes{false, true, 0, 32, 256},
        Sizes{false, true, 0, 256, 32}, Sizes{false, true, 0, 10, 512}, Sizes{true, false, 0, 1024, 4096}}) {
    std::printf("%c%c n %ld k %ld:", s.transpose_a ? 'T' : 'N', s.transpose_b ? 'T' : 'N', s.n, s.k);
    for (const int64_t rows : {64, 128, 256, 512, 1024, 2048}) {
      const Sizes sizes{s.transpose_a, s.transpose_b, rows, s.n, s.k};
      std::printf(" %.0f %.0f,", measure_planned(sizes, false), measure_planned(sizes, true));
    }
    std::printf("\n");
  }
}
