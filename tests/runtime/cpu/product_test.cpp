// Products: right against f64 sums, the same bits for any number of threads, every size may be 0 or 1.
#include "runtime/cpu/product.h"
#include "runtime/cpu/warm_up.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <ostream>
#include <random>
#include <vector>

#include "runtime/cpu/openmp.h"

namespace anyshape::runtime {
namespace {

struct Case {
  bool transpose_a, transpose_b;
  int64_t m, k, n;
  int64_t padding = 0;  // of every leading dimension
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << (c.transpose_a ? 'T' : 'N') << (c.transpose_b ? 'T' : 'N') << " m " << c.m << " k " << c.k << " n " << c.n << " padding "
             << c.padding;
}

constexpr Case training_shapes[] = {
    {false, false, 512, 512, 512}, {false, false, 32, 128, 512}, {false, false, 3200, 64, 512}, {false, false, 64, 784, 512},
    {false, false, 64, 512, 512},  {true, false, 784, 64, 512},  {true, false, 64, 3200, 512},  {false, true, 3200, 512, 64},
    {false, false, 1, 784, 512},   {false, false, 64, 512, 10},  {true, false, 512, 64, 10},    {false, true, 64, 10, 512},
};
constexpr Case odd_shapes[] = {
    {false, false, 1, 1, 1},       {false, false, 7, 3, 5},        {true, true, 33, 65, 17, 3},  {false, true, 1, 1000, 1},
    {true, false, 2, 1, 4099},     {false, false, 513, 129, 1},    {true, true, 257, 301, 263},  {false, true, 65, 1, 65},
    {false, false, 100, 33, 1999}, {true, false, 1, 784, 512, 16}, {false, true, 199, 512, 785}, {false, false, 2001, 40, 31, 1},
    {true, true, 1, 7, 1},         {false, false, 31, 700, 1030},
};
constexpr Case large_shapes[] = {{false, false, 1024, 1024, 1024}, {false, false, 4096, 256, 1024}, {true, false, 256, 4096, 1024}};

// Numbers in [-1, 1) that depend on the index alone: cut from a table, since filling must cost little under sanitizers as well.
void fill(std::vector<float>& matrix, size_t start) {
  static const std::vector<float> table = [] {
    std::vector<float> numbers(65'521);
    std::mt19937 random(7);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float& x : numbers) x = uniform(random);
    return numbers;
  }();
  for (size_t i = 0; i < matrix.size();) {
    const size_t from = (start + i) % table.size(), count = std::min(table.size() - from, matrix.size() - i);
    std::copy_n(&table[from], count, &matrix[i]);
    i += count;
  }
}

// The matrices of one case, filled with numbers that depend on the case alone.
struct Matrices {
  explicit Matrices(const Case& c, float beta = 0)
      : lda((c.transpose_a ? c.m : c.k) + c.padding),
        ldb((c.transpose_b ? c.k : c.n) + c.padding),
        ldc(c.n + c.padding),
        a(static_cast<size_t>((c.transpose_a ? c.k : c.m) * lda)),
        b(static_cast<size_t>((c.transpose_b ? c.n : c.k) * ldb)),
        result(static_cast<size_t>(c.m * ldc)) {
    fill(a, 0);
    fill(b, 20'000);
    fill(result, 40'000);
    call = {.transpose_a = c.transpose_a,
            .transpose_b = c.transpose_b,
            .m = c.m,
            .n = c.n,
            .k = c.k,
            .a = a.data(),
            .lda = lda,
            .b = b.data(),
            .ldb = ldb,
            .beta = beta,
            .c = result.data(),
            .ldc = ldc};
  }
  Matrices(const Matrices&) = delete;
  Matrices& operator=(const Matrices&) = delete;

  int64_t lda, ldb, ldc;
  std::vector<float> a, b, result;
  Product call;
};

std::vector<float> run_with(int threads, const Case& c, float beta = 0) {
  const ScopedPool scoped(threads);
  Matrices matrices(c, beta);
  EXPECT_TRUE(product(scoped.pool(), matrices.call)) << c;
  return matrices.result;
}

bool same_bits(const std::vector<float>& x, const std::vector<float>& y) {
  return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0);
}

// Element (i, j) of the result, summed in double; outside the n columns what was there before.
double element(const Case& c, const Matrices& before, int64_t i, int64_t j) {
  const auto at = [](const std::vector<float>& x, int64_t index) { return static_cast<double>(x[static_cast<size_t>(index)]); };
  const double old = at(before.result, i * before.ldc + j);
  if (j >= c.n) return old;
  double sum = static_cast<double>(before.call.beta) * old;
  for (int64_t x = 0; x < c.k; ++x) {
    const double a = at(before.a, c.transpose_a ? x * before.lda + i : i * before.lda + x);
    sum += a * at(before.b, c.transpose_b ? j * before.ldb + x : x * before.ldb + j);
  }
  return sum;
}

// All elements of small products, every 31st of large ones.
void expect_close_to_double_sums(const Case& c, float beta) {
  const Matrices before(c, beta);
  const std::vector<float> result = run_with(2, c, beta);
  const int64_t step = c.m * c.n * c.k < 1'000'000 ? 1 : 31;
  for (int64_t index = 0; index < c.m * before.ldc; index += step) {
    const double expected = element(c, before, index / before.ldc, index % before.ldc);
    ASSERT_NEAR(static_cast<double>(result[static_cast<size_t>(index)]), expected, 1e-6 * static_cast<double>(c.k + 1))
        << c << " at " << index;
  }
}

TEST(Product, equals_sums_in_double) {
  for (const Case& c : odd_shapes)
    for (float beta : {0.0F, 1.0F}) expect_close_to_double_sums(c, beta);
  expect_close_to_double_sums({false, false, 64, 784, 512}, 0);
  expect_close_to_double_sums({true, false, 784, 64, 512}, 1);
  expect_close_to_double_sums({false, true, 64, 512, 784, 16}, 0);
}

// Cut into strips of rows, of which the last takes what is left.
TEST(Product, with_few_rows_and_a_transposed_matrix_equals_sums_in_double) {
  for (const int64_t m : {15, 16, 17, 31, 33, 128, 129}) {
    for (float beta : {0.0F, 1.0F}) expect_close_to_double_sums({false, true, m, 130, 64, 3}, beta);
  }
}

// One column of b, which may be read as one row, too, or not where columns are apart.
TEST(Product, with_one_column_equals_sums_in_double) {
  for (const int64_t m : {1, 2, 33}) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        for (const int64_t padding : {0, 3}) expect_close_to_double_sums({transpose_a, transpose_b, m, 130, 1, padding}, 0);
      }
    }
  }
}

TEST(Product, has_the_same_bits_for_any_number_of_threads) {
  const auto check = [](const Case& c) {
    const std::vector<float> expected = run_with(1, c);
    for (int threads : {2, 3, 8})
      for (int round = 0; round < 3; ++round) EXPECT_TRUE(same_bits(run_with(threads, c), expected)) << c << ", " << threads << " threads";
  };
  for (const Case& c : training_shapes) check(c);
  for (const Case& c : odd_shapes) check(c);
}

TEST(Product, large_ones_have_the_same_bits_for_any_number_of_threads) {
  for (const Case& c : large_shapes) {
    const std::vector<float> expected = run_with(1, c);
    for (int threads : {2, 3, 8}) EXPECT_TRUE(same_bits(run_with(threads, c), expected)) << c << ", " << threads << " threads";
  }
}

TEST(Product, inside_a_task_has_the_same_bits) {
  Pool pool(3);
  for (const Case& c : training_shapes) {
    const std::vector<float> expected = run_with(1, c);
    Matrices first(c), second(c);
    pool.run(2, 1, [&](int64_t begin, int64_t) { EXPECT_TRUE(product(pool, (begin == 0 ? first : second).call)); });
    EXPECT_TRUE(same_bits(first.result, expected)) << c;
    EXPECT_TRUE(same_bits(second.result, expected)) << c;
  }
}

TEST(Product, without_inner_size_is_beta_times_c) {
  for (int threads : {1, 3}) {
    for (float value : run_with(threads, {false, false, 70, 0, 90})) EXPECT_EQ(value, 0.0F);
    const Case c{true, true, 5, 0, 6, 2};
    EXPECT_TRUE(same_bits(run_with(threads, c, 1), Matrices(c).result));
    const std::vector<float> before = Matrices(c).result, halved = run_with(threads, c, 0.5F);
    for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(halved[i], i % 8 < 6 ? before[i] * 0.5F : before[i]);
  }
}

TEST(Product, beta_zero_does_not_read_the_result) {
  Pool pool(2);
  for (const Case& c :
       {Case{false, false, 9, 0, 7}, Case{false, false, 9, 4, 7}, Case{false, false, 1, 20, 30}, Case{false, true, 300, 200, 500}}) {
    Matrices matrices(c);
    std::fill(matrices.result.begin(), matrices.result.end(), std::numeric_limits<float>::quiet_NaN());
    ASSERT_TRUE(product(pool, matrices.call));
    for (float value : matrices.result) ASSERT_FALSE(std::isnan(value)) << c;
  }
}

TEST(Product, without_rows_or_columns_touches_nothing) {
  Pool pool(2);
  EXPECT_TRUE(product(pool, {.m = 0, .n = 5, .k = 3}));
  EXPECT_TRUE(product(pool, {.m = 5, .n = 0, .k = 3}));
  EXPECT_TRUE(product(pool, {.m = 0, .n = 0, .k = 0}));
}

TEST(Product, takes_any_leading_dimension_of_a_single_row) {
  Pool pool(2);
  const std::vector<float> a{1, 2, 3}, b{4, 5, 6};
  float c = -1;
  EXPECT_TRUE(product(
      pool, {.transpose_b = true, .m = 1, .n = 1, .k = 3, .a = a.data(), .lda = 0, .b = b.data(), .ldb = 0, .beta = 0, .c = &c, .ldc = 0}));
  EXPECT_EQ(c, 32.0F);
}

TEST(Product, says_so_where_rows_overlap) {
  Pool pool(2);
  const std::vector<float> a(16), b(16);
  std::vector<float> c(16);
  EXPECT_FALSE(
      product(pool, {.m = 4, .n = 4, .k = 4, .a = a.data(), .lda = 0, .b = b.data(), .ldb = 4, .beta = 0, .c = c.data(), .ldc = 4}));
}

TEST(Product, leaves_the_callers_float_state_and_openmp_setting) {
  Pool pool(2);
  omp_set_num_threads(2);
  const unsigned before = _mm_getcsr();
  Matrices matrices({false, false, 100, 50, 70});
  ASSERT_TRUE(product(pool, matrices.call));
  EXPECT_EQ(_mm_getcsr(), before);
  EXPECT_EQ(omp_get_max_threads(), 2);
}

TEST(Product, flushes_denormals_on_every_path) {
  const unsigned before = _mm_getcsr();
  for (int threads : {1, 2})
    for (const Case& c : {Case{false, false, 1, 4, 1}, Case{false, false, 256, 64, 256}}) {
      Pool pool(threads);
      Matrices matrices(c);
      std::fill(matrices.a.begin(), matrices.a.end(), 1e-30F);
      std::fill(matrices.b.begin(), matrices.b.end(), 1e-12F);
      ASSERT_TRUE(product(pool, matrices.call));
      for (float value : matrices.result) ASSERT_EQ(std::fpclassify(value), FP_ZERO) << c;
    }
  EXPECT_EQ(_mm_getcsr(), before);
}

TEST(Product, callers_share_one_pool) {
  Pool pool(3);
  const Case c{false, false, 64, 784, 512};
  const std::vector<float> expected = run_with(1, c);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        Matrices matrices(c);
        if (!product(pool, matrices.call) || !same_bits(matrices.result, expected)) wrong.fetch_add(1);
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Tiles, cover_any_size_with_tiles_of_at_least_one) {
  for (int64_t m : {1, 2, 31, 33, 1000, 1'000'000})
    for (int64_t n : {1, 10, 65, 3000, 1'000'000})
      for (int64_t k : {1, 64, 1'000'000}) {
        const Tiles tiles = tiles_of(m, n, k);
        EXPECT_GE(tiles.rows, 1);
        EXPECT_GE(tiles.columns, 1);
        EXPECT_LE(tiles.rows, m);
        EXPECT_LE(tiles.columns, n);
      }
}

// In a process of its own, where nothing has been warmed up before.
TEST(WarmUpDeathTest, a_process_may_end_while_warming_up) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int round = 0; round < 3; ++round) {
    EXPECT_EXIT(
        {
          start_warming_up_products();
          usleep(3000);
          std::exit(0);
        },
        testing::ExitedWithCode(0), "");
  }
}

// A child has no thread that goes on generating oneDNN's code: were it begun and not finished, the child's first product would never end.
TEST(Product, runs_in_a_child_forked_while_warming_up) {
  start_warming_up_products();
  start_warming_up_products();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    const std::vector<float> a(64 * 64, 1.0F), b(64 * 64, 1.0F);
    std::vector<float> c(64 * 64);
    Pool pool(1);
    const bool ran =
        product(pool, {.m = 64, .n = 64, .k = 64, .a = a.data(), .lda = 64, .b = b.data(), .ldb = 64, .c = c.data(), .ldc = 64});
    _exit(ran && c[77] == 64 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace anyshape::runtime
