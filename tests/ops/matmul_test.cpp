// Products: every transpose and dtype against plain loops, batches that broadcast, empty sizes and refused calls.
#include "ops/expect_error.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <array>

namespace anyshape {
namespace {

// Small whole numbers: every dtype holds the exact result.
template <class T>
std::vector<T> pattern(int64_t count, int64_t step) {
  std::vector<T> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<T>((i * step) % 7 - 3);
  return values;
}

template <class T>
void check_product(int64_t m, int64_t n, int64_t k, bool transpose_a, bool transpose_b) {
  const std::vector<T> a = pattern<T>(m * k, 3), b = pattern<T>(k * n, 5);
  std::vector<T> wanted(m * n, T(0));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t l = 0; l < k; ++l) wanted[i * n + j] += a[transpose_a ? l * m + i : i * k + l] * b[transpose_b ? j * k + l : l * n + j];
    }
  }
  const Tensor result = matmul(tensor(a, transpose_a ? Shape{k, m} : Shape{m, k}), tensor(b, transpose_b ? Shape{n, k} : Shape{k, n}),
                               {.transpose_a = transpose_a, .transpose_b = transpose_b});
  EXPECT_TRUE(result.shape() == (Shape{m, n}));
  EXPECT_EQ(result.to_vector<T>(), wanted) << m << " " << n << " " << k << " " << transpose_a << transpose_b;
}

TEST(Matmul, agrees_with_plain_loops_for_every_dtype_and_transpose) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const auto& [m, n, k] : {std::array<int64_t, 3>{3, 5, 4}, {1, 1, 1}, {17, 33, 9}, {2, 3, 0}, {0, 3, 2}, {3, 0, 2}}) {
        check_product<float>(m, n, k, transpose_a, transpose_b);
        check_product<double>(m, n, k, transpose_a, transpose_b);
        check_product<int32_t>(m, n, k, transpose_a, transpose_b);
        check_product<int64_t>(m, n, k, transpose_a, transpose_b);
      }
    }
  }
}

template <class T>
void check_batches(const Shape& batch_a, const Shape& batch_b) {
  const int64_t m = 2, n = 3, k = 4;
  Shape shape_a = batch_a, shape_b = batch_b;
  shape_a.push_back(m), shape_a.push_back(k), shape_b.push_back(k), shape_b.push_back(n);
  const Tensor a = tensor(pattern<T>(shape_a.count().value(), 3), shape_a), b = tensor(pattern<T>(shape_b.count().value(), 5), shape_b);
  // Elementwise products of everything with everything, then a sum: another way to the same numbers.
  Shape wide_a = batch_a, wide_b = batch_b;
  for (const Dim& size : {Dim(m), Dim(k), Dim(1)}) wide_a.push_back(size);
  for (const Dim& size : {Dim(1), Dim(k), Dim(n)}) wide_b.push_back(size);
  EXPECT_TRUE(all_equal(matmul(a, b), sum(reshape(a, wide_a) * reshape(b, wide_b), {.axes = {-2}})))
      << to_string(shape_a) << to_string(shape_b);
}

TEST(Matmul, batches_broadcast) {
  for (const auto& [a, b] :
       {std::pair<Shape, Shape>{{3}, {3}}, {{3}, {1}}, {{1}, {3}}, {{3}, {}}, {{}, {3}}, {{2, 3}, {3}}, {{2, 1}, {1, 3}}, {{0}, {1}}}) {
    check_batches<float>(a, b);
    check_batches<double>(a, b);
    check_batches<int32_t>(a, b);
  }
}

TEST(Matmul, vectors_are_rows_on_the_left_and_columns_on_the_right) {
  const Tensor v = tensor({1.0F, 2.0F}), m = tensor({{1.0F, 2.0F}, {3.0F, 4.0F}});
  EXPECT_EQ(matmul(v, m).to_vector<float>(), (std::vector<float>{7, 10}));
  EXPECT_EQ(matmul(m, v).to_vector<float>(), (std::vector<float>{5, 11}));
  EXPECT_EQ(matmul(v, v).item<float>(), 5.0F);
  EXPECT_TRUE(matmul(m, v).shape() == (Shape{2}));
}

TEST(Matmul, operands_meet_in_their_common_dtype) {
  EXPECT_EQ(matmul(ones({2, 2}, {.dtype = i32}), ones({2, 2})).dtype(), f32);
  EXPECT_EQ(matmul(ones({2, 2}), ones({2, 2}, {.dtype = f64})).dtype(), f64);
  EXPECT_EQ(matmul(ones({2, 2}, {.dtype = b8}), ones({2, 2}, {.dtype = b8})).to_vector<int32_t>(), (std::vector<int32_t>(4, 2)));
}

TEST(Matmul, refuses_sizes_that_do_not_fit) {
  expect_error<ShapeError>([] { matmul(ones({2, 784}), ones({100, 10})); },
                           "matmul: inner sizes differ: a is f32[2, 784], b is f32[100, 10]; expected a.shape[-1] == b.shape[-2].");
  expect_error<ShapeError>([] { matmul(ones({2, 3}), ones({2, 3}), {.transpose_a = true, .transpose_b = true}); },
                           "matmul: inner sizes differ: a is f32[2, 3], b is f32[2, 3]; expected a.shape[-2] == b.shape[-1].");
  expect_error<ShapeError>(
      [] { matmul(ones({2, 3}), 1.0F); },
      "matmul: a scalar has no axis to sum over: a is f32[2, 3], b is f32[]; expected vectors, matrices or batches of matrices.");
  expect_error<ShapeError>(
      [] { matmul(ones({2, 2, 3}), ones({4, 3, 2})); },
      "matmul: leading axes do not broadcast: a is f32[2, 2, 3], b is f32[4, 3, 2]; expected sizes that are equal or 1, aligned "
      "before the last two axes.");
}

}  // namespace
}  // namespace anyshape
