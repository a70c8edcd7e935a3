// The processor's library: products against plain sums, blocks that cover a result once, the same bits for any number of threads.
#include "runtime/cpu/cpu_library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "runtime/cpu/externs.h"
#include "runtime/cpu/product.h"

namespace anyshape::runtime {
namespace {

std::vector<float> numbers(int64_t count, uint32_t seed) {
  std::vector<float> result(static_cast<size_t>(count));
  std::mt19937 random(seed);
  for (float& x : result) x = static_cast<float>(random() % 2001) / 1000.0F - 1.0F;
  return result;
}

// A batch of two axes, [2, 3]: a has matrices along the second only, b along the first only.
struct Batched {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  int64_t entries() const { return 6; }
  int64_t lda() const { return (transpose_a ? m : k) + 1; }
  int64_t ldb() const { return (transpose_b ? k : n) + 2; }
  int64_t rows_a() const { return transpose_a ? k : m; }
  int64_t rows_b() const { return transpose_b ? n : k; }
  std::vector<float> a = numbers(3 * rows_a() * lda(), 1), b = numbers(2 * rows_b() * ldb(), 2);

  ProductCall call(std::vector<float>& c) const {
    ProductCall result{.transpose_a = transpose_a, .transpose_b = transpose_b, .a = a.data(), .b = b.data(), .c = c.data()};
    result.sizes = {.m = m, .n = n, .k = k, .distance_a = lda(), .distance_b = ldb(), .axes = 2};
    result.sizes.batch[0] = {2, 0, rows_b() * ldb()};
    result.sizes.batch[1] = {3, rows_a() * lda(), 0};
    return result;
  }
  double expected(int64_t entry, int64_t row, int64_t column) const {
    const float* const from_a = a.data() + entry % 3 * rows_a() * lda();
    const float* const from_b = b.data() + entry / 3 * rows_b() * ldb();
    double sum = 0;
    for (int64_t i = 0; i < k; ++i) {
      const float x = transpose_a ? from_a[i * lda() + row] : from_a[row * lda() + i];
      const float y = transpose_b ? from_b[column * ldb() + i] : from_b[i * ldb() + column];
      sum += double{x} * double{y};
    }
    return sum;
  }
};

std::vector<float> run(const Batched& product, int threads) {
  Pool pool(threads);
  AsContext context = make_context(pool);
  std::vector<float> c(static_cast<size_t>(product.entries() * product.m * product.n), 7.0F);
  EXPECT_EQ(multiply(&context, product.call(c), nullptr), 0);
  return c;
}

TEST(Library, a_batch_is_multiplied_matrix_by_matrix_and_shared_ones_are_met_again) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const auto [m, n, k] :
           {std::array<int64_t, 3>{5, 7, 3}, {1, 9, 4}, {40, 1, 300}, {130, 260, 33}, {3, 3, 0}, {0, 4, 2}, {4, 0, 2}}) {
        const Batched product{transpose_a, transpose_b, m, n, k};
        const std::vector<float> c = run(product, 2);
        for (int64_t i = 0; i < static_cast<int64_t>(c.size()); ++i)
          ASSERT_NEAR(c[static_cast<size_t>(i)], product.expected(i / (m * n), i / n % m, i % n), 1e-4)
              << transpose_a << transpose_b << " m " << m << " n " << n << " k " << k << " at " << i;
      }
    }
  }
}

TEST(Library, bits_are_the_same_for_any_number_of_threads) {
  const Batched product{false, true, 300, 270, 200};
  const std::vector<float> one = run(product, 1);
  for (const int threads : {2, 3, 8}) EXPECT_EQ(run(product, threads), one) << threads;
}

TEST(Library, a_copy_of_b_gives_the_same_product) {
  constexpr int64_t m = 300, n = 50, k = 70, distance = 80;
  for (const bool transpose : {false, true}) {
    const std::vector<float> a = numbers(m * k, 1), b = numbers(n * k, 2);
    std::vector<float> c(m * n), packed(k * distance);
    Pool pool(2);
    AsContext context = make_context(pool);
    ProductCall call{.transpose_b = transpose, .a = a.data(), .b = b.data(), .c = c.data(), .packed = packed.data()};
    call.sizes = {.m = m, .n = n, .k = k, .distance_a = k, .distance_b = transpose ? k : n, .packs = 1, .packed_distance = distance};
    ASSERT_EQ(multiply(&context, call, nullptr), 0);
    for (int64_t i = 0; i < m * n; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < k; ++j)
        sum += double{a[static_cast<size_t>(i / n * k + j)]} * double{b[static_cast<size_t>(transpose ? i % n * k + j : j * n + i % n)]};
      ASSERT_NEAR(c[static_cast<size_t>(i)], sum, 1e-4);
    }
    EXPECT_EQ(packed[static_cast<size_t>(3 * distance + 5)], b[transpose ? 5 * k + 3 : 3 * n + 5]);
  }
}

// Adds 1000 to every element of its block.
struct Follower final : BlockRun {
  Follower(float* c, int64_t columns) : c(c), columns(columns) {}
  int32_t run(AsContext*, const ResultBlock& block) const override {
    for (int64_t row = block.first_row; row < block.end_row; ++row) {
      for (int64_t column = block.first_column; column < block.end_column; ++column) c[row * columns + column] += 1000.0F;
    }
    return 0;
  }
  float* c;
  int64_t columns;
};

struct Failing final : BlockRun {
  int32_t run(AsContext*, const ResultBlock&) const override { return 3; }
};

TEST(Library, what_follows_runs_on_every_element_once_after_it_is_written) {
  const Batched product{false, false, 210, 300, 90};
  const std::vector<float> plain = run(product, 1);
  for (const int threads : {1, 2, 3}) {
    Pool pool(threads);
    AsContext context = make_context(pool);
    std::vector<float> c(plain.size());
    const Follower after(c.data(), product.n);
    ASSERT_EQ(multiply(&context, product.call(c), &after), 0);
    for (size_t i = 0; i < c.size(); ++i) ASSERT_EQ(c[i], plain[i] + 1000.0F) << i;
  }
}

TEST(Library, a_refused_product_and_a_kernel_that_fails_end_the_call) {
  Pool pool(2);
  AsContext context = make_context(pool);
  Batched product{false, false, 64, 64, 64};
  std::vector<float> c(static_cast<size_t>(product.entries() * product.m * product.n));
  ProductCall refused = product.call(c);
  refused.sizes.distance_a = 1;  // rows within each other
  EXPECT_NE(multiply(&context, refused, nullptr), 0);
  EXPECT_EQ(context.failure.code, routine_failed);
  const Failing fails;
  EXPECT_EQ(multiply(&context, product.call(c), &fails), 3);
}

// Rows along the middle axis of [outer, size, inner], or rows by splits of [total, inner].
struct Unsorted {
  SortSizes<int64_t> sizes;
  std::vector<int64_t> splits = {};
  std::vector<float> x = {};

  int64_t rows() const { return sizes.outer; }
  int64_t begin(int64_t row) const { return splits.empty() ? row * sizes.size : splits[static_cast<size_t>(row)]; }
  int64_t end(int64_t row) const { return begin(row + 1); }
  int64_t begin_of_result(int64_t row) const { return splits.empty() ? row * sizes.count : begin(row); }
  int64_t wanted(int64_t row) const { return splits.empty() ? sizes.count : end(row) - begin(row); }
};

struct Sorted {
  std::vector<float> values;
  std::vector<int32_t> indices;
  bool operator==(const Sorted&) const = default;
};

Sorted sorted_by_library(const Unsorted& from, bool descending, int threads) {
  Pool pool(threads);
  Sorted result{std::vector<float>(from.x.size(), -9), std::vector<int32_t>(from.x.size(), -9)};
  std::vector<uint64_t> keys(from.x.size());
  sort(pool, {.dtype = Dtype::f32,
              .descending = descending,
              .sizes = from.sizes,
              .splits = from.splits.empty() ? nullptr : from.splits.data(),
              .x = from.x.data(),
              .values = result.values.data(),
              .indices = result.indices.data(),
              .keys = keys.data()});
  return result;
}

Sorted sorted_plainly(const Unsorted& from, bool descending) {
  Sorted result{std::vector<float>(from.x.size(), -9), std::vector<int32_t>(from.x.size(), -9)};
  for (int64_t row = 0; row < from.rows(); ++row) {
    for (int64_t column = 0; column < from.sizes.inner; ++column) {
      const auto at = [&](int64_t element) { return static_cast<size_t>(element * from.sizes.inner + column); };
      std::vector<int32_t> order(static_cast<size_t>(from.end(row) - from.begin(row)));
      std::iota(order.begin(), order.end(), 0);
      const auto key = [&](int32_t i) { return (descending ? -1.0F : 1.0F) * from.x[at(from.begin(row) + i)]; };
      std::ranges::sort(order, {}, [&](int32_t i) { return std::pair(key(i), i); });
      for (int64_t j = 0; j < from.wanted(row); ++j) {
        const int32_t index = order[static_cast<size_t>(j)];
        result.indices[at(from.begin_of_result(row) + j)] = index;
        result.values[at(from.begin_of_result(row) + j)] = from.x[at(from.begin(row) + index)];
      }
    }
  }
  return result;
}

TEST(Library, rows_are_sorted_for_any_number_of_threads) {
  std::vector<Unsorted> cases;
  for (const auto [outer, size, count, inner] :
       {std::array<int64_t, 4>{5, 7, 7, 3}, {300, 40, 40, 1}, {9, 500, 20, 4}, {3, 1, 1, 5}, {4, 6, 0, 2}, {0, 3, 3, 3}, {3, 0, 0, 3}})
    cases.push_back({.sizes = {.outer = outer, .size = size, .count = count, .inner = inner}, .x = numbers(outer * size * inner, 3)});
  cases.push_back(
      {.sizes = {.outer = 5, .size = 1300, .count = 1300, .inner = 3}, .splits = {0, 0, 700, 701, 701, 1300}, .x = numbers(3900, 4)});
  cases.push_back({.sizes = {.outer = 0, .size = 0, .count = 0, .inner = 3}, .splits = {0}, .x = {}});
  for (const Unsorted& each : cases) {
    for (const bool descending : {false, true}) {
      const Sorted expected = sorted_plainly(each, descending);
      for (const int threads : {1, 2, 3, 8})
        EXPECT_EQ(sorted_by_library(each, descending, threads), expected) << each.sizes.outer << " " << each.sizes.size;
    }
  }
}

}  // namespace
}  // namespace anyshape::runtime
