// One index for several axes of what is read, as along diagonals: values, gradients and bounds, wherever sizes are known, and beside
// each of the ways in which kernels join loops.
#include "function/compile.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <functional>

namespace anyshape {
namespace {

using Body = std::function<Tensor(const Tensor&)>;

Tensor counting(const Shape& shape) { return reshape(arange(shape.count(), {.dtype = f32}), shape); }

// With sizes as numbers, as symbols, and with one or the other axis known.
std::vector<FunctionOptions> ways(const Shape& shape) {
  std::vector<FunctionOptions> all = {
      {.name = "exact", .shapes = Shapes::Exact}, {.name = "symbolic"}, {.name = "relax", .shapes = Shapes::Relax}};
  Shape rows_open = shape, rows_known;
  rows_open[0] = dim("rows");
  const Dim side = dim("side");
  for (int axis = 0; axis < shape.rank(); ++axis) rows_known.push_back(axis + 2 < shape.rank() ? shape[axis] : side);
  all.push_back({.name = "rows open", .signature = {spec(f32, rows_open)}});
  all.push_back({.name = "rows known", .signature = {spec(f32, rows_known)}});
  return all;
}

void expect_everywhere(const Body& body, const Shape& shape) {
  const Tensor x = counting(shape) * 0.37f - 2.0f;
  const auto with_gradient = [&](Tensor given) {
    GradientTape tape;
    tape.watch(given);
    const Tensor y = body(given);
    return std::pair(y, tape.gradient(sum(y * y), given));
  };
  const auto [wanted, wanted_slopes] = with_gradient(x);
  const function_detail::ScopedInterpretation interpretation;  // what is read where is decided before machine code
  for (const FunctionOptions& options : ways(shape)) {
    auto traced = function(with_gradient, options);
    const auto [got, got_slopes] = traced(x);
    EXPECT_TRUE(all_close(got, wanted, {.relative = 1e-5, .absolute = 1e-4})) << options.name << " " << to_string(shape);
    EXPECT_TRUE(all_close(got_slopes, wanted_slopes, {.relative = 1e-5, .absolute = 1e-4}))
        << options.name << " gradient " << to_string(shape);
  }
}

TEST(RepeatedIndices, are_diagonals_of_every_matrix_of_a_batch) {
  const Tensor x = counting({3, 2, 2});
  for (const FunctionOptions& options : ways(x.shape())) {
    auto diagonals = function([](Tensor given) { return diag(given); }, options);
    EXPECT_EQ(diagonals(x).to_vector<float>(), (std::vector<float>{0, 3, 4, 7, 8, 11})) << options.name;
    auto by_name = function([](Tensor given) { return einsum("bii->bi", {given}); }, options);
    EXPECT_EQ(by_name(x).to_vector<float>(), (std::vector<float>{0, 3, 4, 7, 8, 11})) << options.name;
    auto sums = function([](Tensor given) { return einsum("bii->b", {given}); }, options);
    EXPECT_EQ(sums(x).to_vector<float>(), (std::vector<float>{3, 11, 19})) << options.name;
  }
}

TEST(RepeatedIndices, stay_inside_a_large_batch) {
  auto exact = function([](Tensor x) { return sum(diag(x)); }, {.name = "exact", .shapes = Shapes::Exact});
  EXPECT_EQ(exact(ones({100'000, 2, 2})).item<float>(), 200'000.0f);
}

// Elementwise beside it, reductions over it, rows, columns, products, concat, loops and slices of it.
TEST(RepeatedIndices, are_read_alike_in_every_kind_of_kernel) {
  const Body bodies[] = {
      [](const Tensor& x) { return diag(x) * 2 + 1; },
      [](const Tensor& x) { return x + expand_dims(diag(x), 1); },
      [](const Tensor& x) { return x * expand_dims(diag(x), -1) + x; },
      [](const Tensor& x) { return sum(diag(x), {.axes = {0}}); },
      [](const Tensor& x) { return sum(diag(x), {.axes = {-1}}); },
      [](const Tensor& x) { return max(diag(x) * diag(x)); },
      [](const Tensor& x) { return softmax(diag(x) * 0.01f); },
      [](const Tensor& x) { return diag(x) - mean(diag(x), {.axes = {-1}, .keep_dims = true}); },
      [](const Tensor& x) { return diag(x) - mean(diag(x), {.axes = {0}, .keep_dims = true}); },
      [](const Tensor& x) { return diag(softmax(x * 0.01f)); },
      [](const Tensor& x) { return diag(matmul(x, transpose(x, {0, 2, 1}))) * 0.01f; },
      [](const Tensor& x) { return matmul(diag(x), ones({x.shape()[2], 5})) + 1; },
      [](const Tensor& x) { return relu(matmul(x, x) * 0.01f + expand_dims(diag(x), 1)); },
      [](const Tensor& x) { return concat({diag(x), diag(x) * 2}, {.axis = 0}); },
      [](const Tensor& x) { return concat({diag(x), sum(x, {.axes = {1}})}, {.axis = 1}); },
      [](const Tensor& x) { return cumsum(diag(x), {.axis = 0}); },
      [](const Tensor& x) { return diag(slice(x, {{.begin = 1}})); },
      [](const Tensor& x) { return diag(transpose(x, {1, 0, 2})); },
      [](const Tensor& x) { return diag(diag(x)); },
      [](const Tensor& x) { return einsum("bii,bij->bj", {x, x}) * 0.01f; },
      [](const Tensor& x) { return einsum("bij,bjj->ib", {x, x}) * 0.01f; },
      [](const Tensor& x) { return einsum("bii,cii->bc", {x, x}) * 0.01f; },
      [](const Tensor& x) {
        return scan([](const Tensor& h, const Tensor& step) { return std::pair(h + diag(step), h * diag(step)); }, ones({x.shape()[2]}), x)
            .second;
      },
  };
  int number = 0;
  for (const Body& body : bodies) {
    SCOPED_TRACE(number++);
    for (const Shape& shape : {Shape{3, 2, 2}, Shape{2, 3, 3}, Shape{5, 17, 17}, Shape{1, 4, 4}, Shape{4, 1, 1}})
      expect_everywhere(body, shape);
  }
}

TEST(RepeatedIndices, stand_behind_several_axes) {
  const Body bodies[] = {
      [](const Tensor& x) { return diag(x); },
      [](const Tensor& x) { return diag(diag(x)); },
      [](const Tensor& x) { return einsum("abii->ab", {x}); },
      [](const Tensor& x) { return einsum("aaii->ai", {x}); },
      [](const Tensor& x) { return einsum("aiai->ia", {transpose(x, {0, 2, 1, 3})}); },
      [](const Tensor& x) { return sum(diag(x), {.axes = {0, 2}}); },
  };
  for (const Body& body : bodies) {
    for (const Shape& shape : {Shape{2, 2, 3, 3}, Shape{3, 3, 2, 2}, Shape{2, 2, 2, 2}}) expect_everywhere(body, shape);
  }
}

}  // namespace
}  // namespace anyshape
