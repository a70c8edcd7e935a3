// Matrix products in f32 through oneDNN: cut into tiles by their sizes only, each tile on one thread of the pool.
#pragma once
#include <cstdint>

#include "runtime/cpu/pool.h"

namespace anyshape::runtime {

// One product of row-major matrices: c [m, n] = op(a) [m, k] op(b) [k, n] + beta c, where op transposes if asked. Leading dimensions are the
// distances between rows as stored.
struct Product {
  bool transpose_a = false, transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  int64_t lda = 0;
  const float* b = nullptr;
  int64_t ldb = 0;
  float beta = 0;  // 0: c is written without being read
  float* c = nullptr;
  int64_t ldc = 0;
};

// Runs the product on the pool, or on this thread inside a task: the same tiles and the same bits. Any size may be 0; with k = 0 the result is
// beta c. False where oneDNN refuses the sizes.
[[nodiscard]] bool product(Pool& pool, const Product& product);

// How a product is cut: tiles of `rows` x `columns`, the last ones smaller. A function of the sizes alone.
struct Tiles {
  int64_t rows, columns;
};
Tiles tiles_of(int64_t m, int64_t n, int64_t k);

// The same for products whose results are worked on further: a tile is written in blocks of rows small enough to be in cache for what follows,
// and a task takes several tiles where they are tiny.
struct ProductPlan {
  Tiles tiles;
  int64_t block_rows;
  int64_t tiles_of_a_task;
};
ProductPlan plan_product(bool transposed, int64_t m, int64_t n, int64_t k);  // transposed: one of the operands

// A product without the pool, whole.
[[nodiscard]] bool product_on_this_thread(const Product& product);

}  // namespace anyshape::runtime
