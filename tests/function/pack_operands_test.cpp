// Products that copy their right operand: right against sums in f64, the same bits for any number of threads and without a signature, within
// rounding of products in place, in memory that was planned.
#include "base/switches.h"
#include "function/bytes_taken.h"
#include "function/compile.h"
#include "function/same_bits.h"
#include "runtime/cpu/pool.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace anyshape::test {
namespace {

struct Sizes {
  int64_t m, k, n;
};

std::ostream& operator<<(std::ostream& out, const Sizes& s) { return out << s.m << " x " << s.k << " x " << s.n; }

// Around every bound of the rule, and at 0 and 1.
constexpr Sizes sizes[] = {{0, 64, 1024},   {1, 64, 1024},   {256, 0, 1024},  {256, 64, 0},    {255, 64, 1024},
                           {256, 64, 1024}, {256, 63, 1024}, {257, 65, 1024}, {256, 64, 1023}, {256, 64, 1025},
                           {300, 70, 2048}, {256, 64, 31},   {256, 64, 32},   {700, 129, 33}};

Tensor numbers(const Shape& shape, unsigned seed) {
  std::mt19937 host(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(static_cast<size_t>(shape.count().value()));
  for (float& x : values) x = uniform(host);
  return reshape(tensor(values, {static_cast<int64_t>(values.size())}), shape);
}

// Rows of a are met by rows of b where it is transposed, else by its columns. A sample of the rows: sums in f64 take long.
void expect_right(const Tensor& c, const Tensor& a, const Tensor& b, bool transposed, const Sizes& s) {
  const std::vector<float> got = c.to_vector<float>(), left = a.to_vector<float>(), right = b.to_vector<float>();
  ASSERT_EQ(got.size(), static_cast<size_t>(s.m * s.n));
  for (int64_t i = 0; i < s.m; i += 37) {
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < s.k; ++l)
        sum += static_cast<double>(left[static_cast<size_t>(i * s.k + l)]) *
               right[static_cast<size_t>(transposed ? j * s.k + l : l * s.n + j)];
      ASSERT_NEAR(got[static_cast<size_t>(i * s.n + j)], sum, 1e-5 * std::sqrt(static_cast<double>(s.k) + 1)) << "at " << i << ", " << j;
    }
  }
}

auto compiled(bool transposed) {
  return function([transposed](Tensor a, Tensor b) { return matmul(a, b, {.transpose_b = transposed}); }, {.name = "product"});
}

TEST(PackOperands, products_are_right_and_have_one_result_for_any_number_of_threads) {
  for (const bool transposed : {false, true}) {
    auto product = compiled(transposed), slow = compiled(transposed);
    for (const Sizes& s : sizes) {
      SCOPED_TRACE(testing::Message() << s << (transposed ? ", transposed" : ""));
      const Tensor a = numbers({s.m, s.k}, 1), b = transposed ? numbers({s.n, s.k}, 2) : numbers({s.k, s.n}, 2);
      const Tensor c = product(a, b);
      expect_right(c, a, b, transposed, s);
      expect_same_bits(matmul(a, b, {.transpose_b = transposed}), c);
      for (const int threads : {1, 2, 3, 8}) {
        const runtime::ScopedPool pool(threads);
        expect_same_bits(product(a, b), c);
      }
      const function_detail::ScopedInterpretation interpretation;
      expect_same_bits(slow(a, b), c);
    }
    EXPECT_EQ(product.stats().traces, 1);
  }
}

TEST(PackOperands, what_is_not_copied_gives_the_same_within_rounding) {
  for (const bool transposed : {false, true}) {
    const Tensor a = numbers({300, 128}, 3), b = transposed ? numbers({1024, 128}, 4) : numbers({128, 1024}, 4);
    auto with = compiled(transposed), without = compiled(transposed);
    const Tensor copied = with(a, b);
    const ScopedWithout off("pack_operands");
    EXPECT_LT(max(abs(without(a, b) - copied)).item<float>(), 1e-4F);
  }
}

TEST(PackOperands, batches_views_and_what_follows_are_served) {
  const Tensor a = numbers({3, 100, 64}, 5), b = numbers({64, 1024}, 6);
  const Tensor whole = matmul(reshape(a, {300, 64}), b);
  expect_same_bits(matmul(a, b), reshape(whole, {3, 100, 1024}));
  expect_same_bits(matmul(a, reshape(b, {1, 64, 1024})), reshape(whole, {3, 100, 1024}));
  const Tensor columns = slice(numbers({64, 2048}, 7), {{0, 64}, {512, 1536}});  // a view: rows stand 8 KiB apart
  expect_right(matmul(reshape(a, {300, 64}), columns), reshape(a, {300, 64}), columns, false, {300, 64, 1024});
  auto dense = function([](Tensor x, Tensor w) { return relu(matmul(x, w) + 1.0f); }, {.name = "dense"});
  expect_same_bits(dense(a, b), relu(reshape(whole, {3, 100, 1024}) + 1.0f));
}

TEST(PackOperands, the_copy_is_part_of_the_planned_memory_and_a_second_call_allocates_nothing) {
  auto product = function([](Tensor a, Tensor b) { return matmul(a, b); },
                          {.name = "product", .signature = {spec(f32, {dim("rows"), 64}), spec(f32, {64, 1024})}});
  const Tensor b = numbers({64, 1024}, 8);
  product(numbers({2, 64}, 9), b);
  EXPECT_EQ(product.peak_formula(), "results 4096 * rows, arena 270336 * min(rows / 256, 1)");
  for (const int64_t rows : {0, 1, 255, 256, 1000}) {
    const Tensor a = numbers({rows, 64}, 10);
    EXPECT_EQ(bytes_taken([&] { return product(a, b); }), product.peak_bytes({{"rows", rows}})) << rows;
    const int64_t before = memory_use().system_allocations;
    product(a, b);
    EXPECT_EQ(memory_use().system_allocations, before) << rows;
  }
}

}  // namespace
}  // namespace anyshape::test
