// Programs in which one optimisation meets another: what is joined, moved or left out of memory must not be so for who reads it otherwise.
#include <anyshape/anyshape.h>
#include <anyshape/verify.h>

#include <gtest/gtest.h>

namespace anyshape {
namespace {

const Dim n = dim("n");

template <class F>
void expect_as_eager(F body, std::vector<TensorSpec> signature) {
  auto traced = function(std::move(body), {.name = "joined", .signature = std::move(signature)});
  const Verification result = verify(traced, {}, {.count = 12});
  EXPECT_TRUE(result) << to_string(result);
  EXPECT_EQ(result.refused, 0);
}

TEST(JoinedKernels, a_slice_from_the_beginning_is_not_the_whole_product) {
  auto first_rows = function([](Tensor x, Tensor w) { return slice(matmul(x, w), {{.begin = 0, .end = 3}}); }, {.name = "first_rows"});
  EXPECT_TRUE(all_equal(first_rows(ones({400, 9}), ones({9, 370})), full({3, 370}, 9.0F)));
  expect_as_eager(
      [](Tensor x, Tensor w) {
        const Tensor y = tanh(matmul(x, w));
        return slice(y, {{}, {.begin = 0, .end = 5}}) * slice(y, {{}, {.begin = 5, .end = 10}});
      },
      {spec(f32, {n, 9}), spec(f32, {9, 37})});
}

TEST(JoinedKernels, a_product_waits_for_all_parts_of_a_concat) {
  expect_as_eager(
      [](Tensor a, Tensor b, Tensor x, Tensor w) {
        const Tensor u = a * 2, product = matmul(x, w), y = concat({u, b * 3}, {.axis = 1});
        return product + y;
      },
      {spec(f32, {n, 17}), spec(f32, {n, 20}), spec(f32, {n, 9}), spec(f32, {9, 37})});
}

TEST(JoinedKernels, rows_of_two_lengths_follow_each_other) {
  expect_as_eager(
      [](Tensor x) {
        const Tensor scaled = x * sum(x, {.axes = {2}, .keep_dims = true});
        return scaled - mean(scaled, {.axes = {1, 2}, .keep_dims = true});
      },
      {spec(f32, {n, 24, 24})});
}

TEST(JoinedKernels, gradients_of_slices_along_two_axes_are_no_concat) {
  const auto gradient = [](const Tensor& x, const Dim& half, const Dim& whole) {
    GradientTape tape;
    tape.watch(x);
    const Tensor a = slice(x, {{.begin = half, .end = whole}}), b = slice(x, {{}, {.begin = 0, .end = half}});
    return tape.gradient(sum(a * a) + sum(exp(b)), x);
  };
  expect_as_eager([&](Tensor x) { return gradient(x, 2, 4); }, {spec(f32, {4, 4})});
  expect_as_eager([&](Tensor x) { return gradient(x, x.shape()[0] / 2, x.shape()[0]); }, {spec(f32, {n, n})});
}

TEST(JoinedKernels, a_value_that_became_dead_on_the_way_is_not_computed_again) {
  expect_as_eager(
      [](Tensor x, Tensor w) {
        const Tensor mask = x <= 0, y = where(mask, Tensor(0), x), nothing = y * zeros({}, {.dtype = i32});
        Tensor s = cast(x, f32);
        for (int i = 0; i < 4; ++i) s = matmul(s, w);
        return where(mask, s, s * 2) + cast(nothing, f32);
      },
      {spec(i32, {4, 4}), spec(f32, {4, 4})});
}

TEST(JoinedKernels, a_chain_of_thousands_of_sums_is_walked_once) {
  auto many = function(
      [](Tensor x) {
        Tensor total = x;
        for (int i = 0; i < 4000; ++i) total = total + x;
        return total;
      },
      {.name = "many"});
  EXPECT_TRUE(all_equal(many(ones({3})), full({3}, 4001.0F)));
}

// As many rows as columns: a sum along columns looks like a number for each row.
TEST(JoinedKernels, a_sum_along_columns_of_a_square_belongs_to_no_row) {
  const Dim m = dim("m");
  const auto scaled = [](const Tensor& x) {
    const Tensor columns = sum(x * sum(x, {.axes = {1}, .keep_dims = true}), {.axes = {0}});
    return x * reshape(columns, {x.shape()[0], 1});
  };
  expect_as_eager(scaled, {spec(f32, {m, m})});
  for (const int64_t size : {3, 40, 100}) {
    const Tensor x = reshape(sin(cast(arange(size * size), f32)), {size, size}), v = ones({size, 1});
    auto power = function([](Tensor a, Tensor b) { return matmul(a, matmul(a, b), {.transpose_a = true}); }, {.shapes = Shapes::Exact});
    EXPECT_TRUE(all_close(power(x, v), matmul(transpose(x), matmul(x, v)), {.relative = 1e-4, .absolute = 1e-4})) << size;
    auto exact = function(scaled, {.shapes = Shapes::Exact});
    EXPECT_TRUE(all_close(exact(x), scaled(x), {.relative = 1e-4, .absolute = 1e-4})) << size;
  }
}

TEST(JoinedKernels, a_gradient_alone_refuses_the_indices_that_its_take_refuses) {
  const auto gradient = [](const Tensor& x, const Tensor& indices) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(sum(take(exp(x), indices, {.axis = 1, .batch_dims = 1, .from_end = false})), x);
  };
  auto traced = function(gradient, {.name = "gradient"});
  traced(ones({2, 5}), tensor({0, 4}));
  EXPECT_THROW(traced(ones({2, 5}), tensor({0, -1})), DataError);
  EXPECT_THROW(gradient(ones({2, 5}), tensor({0, -1})), DataError);
}

}  // namespace
}  // namespace anyshape
