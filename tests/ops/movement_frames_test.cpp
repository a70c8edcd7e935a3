// Movement: new and vanishing axes, padding, repetition, diagonals and triangles, grids.
#include "ops/expect_error.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

namespace anyshape {
namespace {

using Floats = std::vector<float>;

Tensor counting(const Shape& shape) { return reshape(arange(shape.count(), {.dtype = f32}), shape); }

TEST(ExpandDims, adds_an_axis_and_squeeze_takes_it_away) {
  const Tensor x = counting({3, 4});
  EXPECT_TRUE(expand_dims(x, 0).shape() == (Shape{1, 3, 4}));
  EXPECT_TRUE(expand_dims(x, 1).shape() == (Shape{3, 1, 4}));
  EXPECT_TRUE(expand_dims(x, -1).shape() == (Shape{3, 4, 1}));
  EXPECT_TRUE(expand_dims(x, -3).shape() == (Shape{1, 3, 4}));
  EXPECT_TRUE(all_equal(squeeze(expand_dims(x, 1), {1}), x));
  EXPECT_TRUE(squeeze(zeros({1, 0, 1})).shape() == (Shape{0}));
  EXPECT_TRUE(squeeze(ones({1, 3, 1}), {-1}).shape() == (Shape{1, 3}));
  EXPECT_TRUE(squeeze(ones({1, 1})).shape() == (Shape{}));
}

TEST(ExpandDims, and_squeeze_refuse_axes_that_do_not_fit) {
  expect_error<ShapeError>([] { expand_dims(ones({2}), 2); },
                           "expand_dims: axis 2 is outside the rank 2: x is f32[2]; expected -2 <= axis < 2.");
  EXPECT_THROW(expand_dims(ones({1, 1, 1, 1, 1, 1, 1, 1}), 0), ShapeError);
  EXPECT_THROW(expand_dims(Tensor(), 0), ArgumentError);
  expect_error<ShapeError>([] { squeeze(ones({2, 1}), {0}); }, "squeeze: axis 0 has the size 2: x is f32[2, 1]; expected axes of size 1.");
  expect_error<ShapeError>([] { squeeze(ones({2, 1}), {2}); },
                           "squeeze: axis 2 is outside the rank 2: x is f32[2, 1]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([] { squeeze(ones({2, 1}), {1, -1}); },
                           "squeeze: axis 1 is named twice: x is f32[2, 1]; expected every axis at most once.");
}

TEST(Transpose, moves_and_swaps_single_axes) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_TRUE(all_equal(moveaxis(x, 0, -1), transpose(x, {1, 2, 0})));
  EXPECT_TRUE(all_equal(moveaxis(x, 2, 0), transpose(x, {2, 0, 1})));
  EXPECT_TRUE(all_equal(swapaxes(x, 0, -1), transpose(x)));
  EXPECT_TRUE(all_equal(swapaxes(x, 1, 1), x));
  expect_error<ShapeError>([&] { moveaxis(x, 0, 3); },
                           "moveaxis: axis 3 is outside the rank 3: x is f32[2, 3, 4]; expected -3 <= axis < 3.");
  expect_error<ShapeError>([&] { swapaxes(x, -4, 0); },
                           "swapaxes: axis -4 is outside the rank 3: x is f32[2, 3, 4]; expected -3 <= axis < 3.");
}

TEST(Pad, surrounds_with_a_value) {
  const Tensor x = counting({2, 2});
  EXPECT_EQ(pad(x, {{1, 0}, {0, 2}}, {.value = 9}).to_vector<float>(), (Floats{9, 9, 9, 9, 0, 1, 9, 9, 2, 3, 9, 9}));
  EXPECT_EQ(pad(x, {{0, 1}}).to_vector<float>(), (Floats{0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(pad(zeros({0, 1}), {{1, 1}}, {.value = 2}).to_vector<float>(), (Floats{2, 2}));
  EXPECT_EQ(pad(tensor({1, 2}), {{1, 1}}, {.value = 7.9}).to_vector<int32_t>(), (std::vector<int32_t>{7, 1, 2, 7}));
  EXPECT_EQ(pad(tensor({true}), {{1, 0}}).dtype(), b8);
  EXPECT_EQ(sum(pad(ones({300, 200}), {{5, 5}, {7, 9}})).item<float>(), 60000.0F);
  EXPECT_EQ(pad(3.0F, {}).item<float>(), 3.0F);
}

TEST(Pad, repeats_and_mirrors_the_edge) {
  const Tensor x = tensor({1, 2, 3, 4});
  using Integers = std::vector<int32_t>;
  EXPECT_EQ(pad(x, {{2, 1}}, {.mode = PadMode::Edge}).to_vector<int32_t>(), (Integers{1, 1, 1, 2, 3, 4, 4}));
  EXPECT_EQ(pad(x, {{3, 2}}, {.mode = PadMode::Reflect}).to_vector<int32_t>(), (Integers{4, 3, 2, 1, 2, 3, 4, 3, 2}));
  EXPECT_EQ(pad(x, {{4, 1}}, {.mode = PadMode::Symmetric}).to_vector<int32_t>(), (Integers{4, 3, 2, 1, 1, 2, 3, 4, 4}));
  EXPECT_EQ(pad(counting({2, 2}), {{1, 0}, {0, 1}}, {.mode = PadMode::Reflect}).to_vector<float>(), (Floats{2, 3, 2, 0, 1, 0, 2, 3, 2}));
  EXPECT_TRUE(pad(zeros({0}), {{0, 0}}, {.mode = PadMode::Reflect}).shape() == (Shape{0}));
  EXPECT_EQ(pad(tensor({5}), {{2, 2}}, {.mode = PadMode::Edge}).to_vector<int32_t>(), (Integers{5, 5, 5, 5, 5}));
}

TEST(Pad, refuses_widths_that_do_not_fit) {
  expect_error<ShapeError>([] { pad(ones({2}), {{-1, 0}}); }, "pad: width -1 along axis 0: x is f32[2]; expected widths of at least 0.");
  expect_error<ShapeError>([] { pad(ones({2}), {{0, 0}, {1, 1}}); },
                           "pad: 2 widths for 1 axes: x is f32[2]; expected at most one width per axis.");
  expect_error<ShapeError>([] { pad(ones({2}), {{0, 2}}, {.mode = PadMode::Reflect}); },
                           "pad: width 2 along axis 0 of size 2: x is f32[2]; expected widths below the axis's size to reflect.");
  expect_error<ShapeError>([] { pad(ones({2}), {{3, 0}}, {.mode = PadMode::Symmetric}); },
                           "pad: width 3 along axis 0 of size 2: x is f32[2]; expected widths of at most the axis's size to mirror.");
  expect_error<ShapeError>([] { pad(zeros({0}), {{1, 0}}, {.mode = PadMode::Edge}); },
                           "pad: width 1 along axis 0 of size 0: x is f32[0]; expected an axis with an element to repeat.");
  expect_error<ShapeError>([] { pad(ones({2}), {{1, 0}}, {.value = ones({2})}); },
                           "pad: the value is no scalar: x is f32[2]; expected a value of rank 0.");
}

TEST(Tile, repeats_the_whole_tensor) {
  const Tensor x = counting({2, 2});
  EXPECT_EQ(tile(x, {2}).to_vector<float>(), (Floats{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(tile(x, {2, 1}).to_vector<float>(), (Floats{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(tile(tensor({1.0F, 2.0F}), {2, 2}).to_vector<float>(), (Floats{1, 2, 1, 2, 1, 2, 1, 2}));
  EXPECT_TRUE(tile(x, {0, 3}).shape() == (Shape{0, 6}));
  EXPECT_TRUE(tile(ones({1, 2, 1, 2, 1, 2, 1, 2}), {2, 2, 2, 2, 2, 2, 2, 2}).shape() == (Shape{2, 4, 2, 4, 2, 4, 2, 4}));
  EXPECT_TRUE(all_equal(tile(x, {}), x));
}

TEST(Repeat, repeats_every_element) {
  const Tensor x = counting({2, 2});
  EXPECT_EQ(repeat(x, 2).to_vector<float>(), (Floats{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(repeat(x, 2, {.axis = 0}).to_vector<float>(), (Floats{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(repeat(x, 2, {.axis = -1}).to_vector<float>(), (Floats{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_TRUE(repeat(x, 0, {.axis = 1}).shape() == (Shape{2, 0}));
  EXPECT_EQ(repeat(Tensor(4), 3).to_vector<int32_t>(), (std::vector<int32_t>{4, 4, 4}));
}

TEST(Repeat, and_tile_refuse_negative_counts_and_axes_outside) {
  expect_error<ShapeError>([] { tile(ones({2}), {-1}); }, "tile: -1 repeats: x is f32[2]; expected at least 0.");
  EXPECT_THROW(tile(ones({2}), {1, 1, 1, 1, 1, 1, 1, 1, 1}), ShapeError);
  EXPECT_THROW(tile(Tensor(), {1}), ArgumentError);
  expect_error<ShapeError>([] { repeat(ones({2}), -2); }, "repeat: -2 repeats: x is f32[2]; expected at least 0.");
  expect_error<ShapeError>([] { repeat(ones({2}), 2, {.axis = 1}); },
                           "repeat: axis 1 is outside the rank 1: x is f32[2]; expected -1 <= axis < 1.");
  EXPECT_THROW(repeat(Tensor(), 1), ArgumentError);
}

TEST(Diag, makes_matrices_and_reads_diagonals) {
  const Tensor v = tensor({1.0F, 2.0F});
  EXPECT_EQ(diag(v).to_vector<float>(), (Floats{1, 0, 0, 2}));
  EXPECT_EQ(diag(v, {.offset = 1}).to_vector<float>(), (Floats{0, 1, 0, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(diag(v, {.offset = -1}).to_vector<float>(), (Floats{0, 0, 0, 1, 0, 0, 0, 2, 0}));
  EXPECT_EQ(diag(zeros({0}), {.offset = 2}).to_vector<float>(), (Floats{0, 0, 0, 0}));
  const Tensor x = counting({2, 3});
  EXPECT_EQ(diag(x).to_vector<float>(), (Floats{0, 4}));
  EXPECT_EQ(diag(x, {.offset = 2}).to_vector<float>(), (Floats{2}));
  EXPECT_EQ(diag(x, {.offset = -1}).to_vector<float>(), (Floats{3}));
  EXPECT_TRUE(diag(x, {.offset = 5}).shape() == (Shape{0}));
  EXPECT_EQ(diag(counting({2, 2, 2})).to_vector<float>(), (Floats{0, 3, 4, 7})) << "of every matrix";
  EXPECT_EQ(diag(tensor({true, true})).to_vector<bool>(), (std::vector<bool>{true, false, false, true}));
}

TEST(Diag, refuses_what_is_no_vector_or_matrix) {
  expect_error<ShapeError>([] { diag(1.0F); }, "diag: no vector or matrix: x is f32[]; expected at least 1 axis.");
  expect_error<ShapeError>([] { tril(ones({2})); }, "tril: no matrix: x is f32[2]; expected at least 2 axes.");
  expect_error<ShapeError>([] { triu(ones({2})); }, "triu: no matrix: x is f32[2]; expected at least 2 axes.");
  EXPECT_THROW(diag(Tensor()), ArgumentError);
  EXPECT_THROW(tril(Tensor()), ArgumentError);
}

TEST(Triangles, keep_one_side_of_a_diagonal) {
  for (const Shape& shape : {Shape{3, 3}, Shape{2, 4}, Shape{4, 2}, Shape{2, 3, 2}, Shape{0, 3}, Shape{1, 1}}) {
    const Tensor x = counting(shape) + 1;
    const int64_t rows = shape[-2].value(), columns = shape[-1].value();
    for (const int64_t offset : {-5, -1, 0, 1, 5}) {
      Floats lower = x.to_vector<float>(), upper = lower;
      for (size_t i = 0; i < lower.size(); ++i) {
        const int64_t column = static_cast<int64_t>(i) % columns, row = static_cast<int64_t>(i) / columns % rows;
        if (column - row > offset) lower[i] = 0;
        if (column - row < offset) upper[i] = 0;
      }
      EXPECT_EQ(tril(x, {.offset = offset}).to_vector<float>(), lower) << offset;
      EXPECT_EQ(triu(x, {.offset = offset}).to_vector<float>(), upper) << offset;
    }
  }
  EXPECT_EQ(tril(ones({2, 2}, {.dtype = b8})).to_vector<bool>(), (std::vector<bool>{true, false, true, true}));
}

TEST(Meshgrid, spans_grids_in_both_indexings) {
  const Tensor x = tensor({1.0F, 2.0F, 3.0F}), y = tensor({10.0F, 20.0F});
  const std::vector<Tensor> xy = meshgrid({x, y}), ij = meshgrid({x, y}, {.indexing = Indexing::IJ});
  EXPECT_TRUE(xy[0].shape() == (Shape{2, 3}));
  EXPECT_EQ(xy[0].to_vector<float>(), (Floats{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(xy[1].to_vector<float>(), (Floats{10, 10, 10, 20, 20, 20}));
  EXPECT_TRUE(ij[0].shape() == (Shape{3, 2}));
  EXPECT_EQ(ij[1].to_vector<float>(), (Floats{10, 20, 10, 20, 10, 20}));
  EXPECT_TRUE(meshgrid({x, y, zeros({0})})[2].shape() == (Shape{2, 3, 0}));
  EXPECT_TRUE(all_equal(meshgrid({x})[0], x));
  EXPECT_TRUE(meshgrid({}).empty());
}

TEST(Meshgrid, refuses_matrices_and_too_many_vectors) {
  expect_error<ShapeError>([] { meshgrid({ones({2}), ones({2, 2})}); },
                           "meshgrid: argument 1 is no vector: a is f32[2], b is f32[2, 2]; expected vectors or numbers.");
  expect_error<ShapeError>(
      [] { meshgrid(std::vector<Tensor>(9, ones({1}))); },
      "meshgrid: 9 vectors span 9 axes: a is f32[1], b is f32[1], c is f32[1], d is f32[1], e is f32[1], f is f32[1], g is f32[1], "
      "h is f32[1], i is f32[1]; expected at most 8.");
  EXPECT_THROW(meshgrid({Tensor()}), ArgumentError);
}

}  // namespace
}  // namespace anyshape
