// Movement: reshape, transpose, broadcast_to, slice and concat: where elements go, empty sizes, refused calls.
#include "ops/expect_error.h"

#include <anyshape/error.h>
#include <anyshape/function.h>
#include <anyshape/ops.h>

namespace anyshape {
namespace {

using Floats = std::vector<float>;

Tensor counting(const Shape& shape) { return reshape(arange(shape.count(), {.dtype = f32}), shape); }

TEST(Reshape, keeps_row_major_order_and_finds_the_missing_size) {
  const Tensor x = counting({2, 6});
  EXPECT_EQ(reshape(x, {3, 4}).to_vector<float>(), x.to_vector<float>());
  EXPECT_TRUE(reshape(x, {3, -1}).shape() == (Shape{3, 4}));
  EXPECT_TRUE(reshape(x, {-1}).shape() == (Shape{12}));
  EXPECT_TRUE(reshape(zeros({0, 4}), {-1, 2}).shape() == (Shape{0, 2}));
  EXPECT_TRUE(reshape(transpose(x), {12}).shape() == (Shape{12}));
  EXPECT_EQ(reshape(transpose(counting({2, 2})), {4}).to_vector<float>(), (Floats{0, 2, 1, 3}));
}

TEST(Reshape, refuses_other_counts_and_open_sizes_that_nothing_determines) {
  expect_error<ShapeError>([] { reshape(ones({2, 3}), {4}); },
                           "reshape: cannot reshape to [4]: x is f32[2, 3]; expected the same number of elements.");
  expect_error<ShapeError>([] { reshape(ones({2, 3}), {4, -1}); },
                           "reshape: cannot reshape to [4, 1]: x is f32[2, 3]; expected the same number of elements.");
  expect_error<ShapeError>([] { reshape(ones({2, 3}), {-1, -1}); },
                           "reshape: shape [-1, -1] leaves 2 sizes open: x is f32[2, 3]; expected at most one -1.");
  expect_error<ShapeError>(
      [] { reshape(zeros({3}), {0, -1}); },
      "reshape: shape [0, -1] has a -1 beside a size of 0: x is f32[3]; expected sizes that determine the one left open.");
  expect_error<ShapeError>(
      [] { reshape(zeros({0, 3}), {0, 0, -1}); },
      "reshape: shape [0, 0, -1] has a -1 beside a size of 0: x is f32[0, 3]; expected sizes that determine the one left open.");
  expect_error<ShapeError>([] { reshape(ones({2}), {-2, -3}); },
                           "reshape: shape [-2, -3] has the size -2: x is f32[2]; expected sizes of at least 0.");
}

// A size of 0 that x has, too, is the same one, as a symbol that is 0 when the trace runs.
TEST(Reshape, leaves_the_same_beside_a_size_of_0_eagerly_and_traced) {
  const auto flat = function([](Tensor x) { return reshape(x, {x.shape()[0], -1}); });
  for (const int64_t rows : {0, 1, 3}) {
    const Tensor x = zeros({rows, 4, 5});
    EXPECT_TRUE(reshape(x, {rows, -1}).shape() == (Shape{rows, 20})) << rows;
    EXPECT_TRUE(flat(x).shape() == (Shape{rows, 20})) << rows;
  }
  EXPECT_TRUE(reshape(zeros({0}), {0, -1}).shape() == (Shape{0, 1}));
  EXPECT_TRUE(reshape(zeros({0, 3}), {-1, 0}).shape() == (Shape{3, 0}));
  EXPECT_TRUE(reshape(zeros({0, 0, 4}), {0, -1}).shape() == (Shape{0, 0}));
  EXPECT_TRUE(reshape(zeros({2, 0, 6}), {3, 0, -1}).shape() == (Shape{3, 0, 4}));
  EXPECT_TRUE(reshape(zeros({2, 3, 0}), {2, -1}).shape() == (Shape{2, 0}));
}

TEST(Transpose, moves_axes) {
  const Tensor x = counting({2, 3, 4});
  const Tensor y = transpose(x, {2, 0, 1});
  EXPECT_TRUE(y.shape() == (Shape{4, 2, 3}));
  const Floats from = x.to_vector<float>(), to = y.to_vector<float>();
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) EXPECT_EQ(to[(k * 2 + i) * 3 + j], from[(i * 3 + j) * 4 + k]);
    }
  }
  EXPECT_EQ(transpose(counting({2, 2})).to_vector<float>(), (Floats{0, 2, 1, 3}));
  EXPECT_TRUE(all_equal(transpose(x, {-1, 0, 1}), y));
  EXPECT_TRUE(transpose(zeros({0, 3})).shape() == (Shape{3, 0}));
  EXPECT_EQ(transpose(tensor(std::vector<int32_t>{5}, Shape{})).item<int32_t>(), 5);
}

TEST(Transpose, refuses_what_is_no_permutation) {
  const Tensor x = ones({2, 3});
  expect_error<ShapeError>([&] { transpose(x, {0}); },
                           "transpose: permutation [0] has 1 axes: x is f32[2, 3]; expected every axis of the tensor once.");
  expect_error<ShapeError>([&] { transpose(x, {0, 0}); },
                           "transpose: permutation [0, 0] names axis 0 twice: x is f32[2, 3]; expected every axis of the tensor once.");
  expect_error<ShapeError>([&] { transpose(x, {0, 2}); },
                           "transpose: axis 2 is outside the rank 2: x is f32[2, 3]; expected -2 <= axis < 2.");
}

TEST(BroadcastTo, repeats_axes_of_size_one_and_new_ones) {
  EXPECT_EQ(broadcast_to(tensor({{1.0F}, {2.0F}}), {2, 2, 3}).to_vector<float>(), (Floats{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}));
  EXPECT_TRUE(broadcast_to(ones({1, 3}), {0, 3}).shape() == (Shape{0, 3}));
  EXPECT_EQ(broadcast_to(3, {2}).to_vector<int32_t>(), (std::vector<int32_t>{3, 3}));
}

TEST(BroadcastTo, refuses_other_sizes) {
  const std::string rule = "; expected a shape to whose sizes the tensor's are equal, or are 1, aligned at the last axis.";
  expect_error<ShapeError>([] { broadcast_to(ones({2}), {3}); }, "broadcast_to: cannot broadcast to [3]: x is f32[2]" + rule);
  expect_error<ShapeError>([] { broadcast_to(ones({2}), {1}); }, "broadcast_to: cannot broadcast to [1]: x is f32[2]" + rule);
  expect_error<ShapeError>([] { broadcast_to(ones({1, 2}), {2}); }, "broadcast_to: cannot broadcast to [2]: x is f32[1, 2]" + rule);
  expect_error<ShapeError>([] { broadcast_to(ones({1}), {-1}); },
                           "broadcast_to: shape [-1] has the size -1: x is f32[1]; expected sizes of at least 0.");
}

TEST(Slice, takes_ranges_as_numpy_does) {
  const Tensor x = counting({4, 3});
  EXPECT_EQ(slice(x, {{1, 3}}).to_vector<float>(), (Floats{3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(slice(x, {{-2}, {0, -1}}).to_vector<float>(), (Floats{6, 7, 9, 10}));
  EXPECT_TRUE(slice(x, {{1, 99}}).shape() == (Shape{3, 3})) << "constant bounds are clamped";
  EXPECT_TRUE(slice(x, {{-99, 1}}).shape() == (Shape{1, 3}));
  EXPECT_TRUE(slice(x, {{3, 1}}).shape() == (Shape{0, 3})) << "wrong order: nothing";
  EXPECT_TRUE(slice(x, {{7}}).shape() == (Shape{0, 3}));
  EXPECT_TRUE(all_equal(slice(x, {}), x));
  EXPECT_TRUE(slice(zeros({0}), {{0, 5}}).shape() == (Shape{0}));
}

TEST(Slice, refuses_more_ranges_than_axes) {
  expect_error<ShapeError>([] { slice(ones({3}), {{0, 1}, {0, 1}}); },
                           "slice: 2 ranges for 1 axes: x is f32[3]; expected at most one range per axis.");
  expect_error<ShapeError>([] { slice(1.0F, {{0, 1}}); }, "slice: 1 ranges for 0 axes: x is f32[]; expected at most one range per axis.");
  EXPECT_THROW(slice(Tensor(), {{0, 1}}), ArgumentError);
}

TEST(Flip, and_squeeze_take_one_axis_or_several) {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  EXPECT_EQ(flip(x, 1).to_vector<int32_t>(), (std::vector<int32_t>{2, 1, 4, 3}));
  EXPECT_EQ(flip(x, {1}).to_vector<int32_t>(), (std::vector<int32_t>{2, 1, 4, 3}));
  EXPECT_EQ(flip(x, -2).to_vector<int32_t>(), (std::vector<int32_t>{3, 4, 1, 2}));
  EXPECT_EQ(flip(x, {0, 1}).to_vector<int32_t>(), (std::vector<int32_t>{4, 3, 2, 1}));
  EXPECT_EQ(flip(x, {}).to_vector<int32_t>(), (std::vector<int32_t>{4, 3, 2, 1}));
  EXPECT_EQ(squeeze(ones({1, 2, 1}), 0).shape(), (Shape{2, 1}));
  EXPECT_EQ(squeeze(ones({1, 2, 1}), {-1}).shape(), (Shape{1, 2}));
  EXPECT_EQ(squeeze(ones({1, 2, 1})).shape(), Shape{2});
}

TEST(Concat, puts_tensors_one_after_the_other) {
  const Tensor a = counting({2, 2}), b = -counting({2, 1}), c = counting({2, 0});
  EXPECT_EQ(concat({a, b, c}, {.axis = 1}).to_vector<float>(), (Floats{0, 1, -0.0F, 2, 3, -1}));
  EXPECT_EQ(concat({a, a}).to_vector<float>(), (Floats{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_TRUE(concat({a, a}, {.axis = -1}).shape() == (Shape{2, 4}));
  EXPECT_TRUE(all_equal(concat({a}), a));
  EXPECT_EQ(concat({tensor({1}), tensor({0.5F})}).dtype(), f32);
  EXPECT_EQ(sum(concat({ones({30000, 3}), ones({1, 3})})).item<float>(), 90003.0F);
}

TEST(Concat, refuses_tensors_that_do_not_fit) {
  expect_error<ArgumentError>([] { concat({}); }, "concat: got 0 tensors; expected at least one.");
  expect_error<ShapeError>([] { concat({ones({2}), ones({2, 1})}); },
                           "concat: ranks differ: a is f32[2], b is f32[2, 1]; expected tensors of one rank.");
  expect_error<ShapeError>(
      [] { concat({ones({2, 3}), ones({2, 4})}); },
      "concat: sizes along axis 1 differ: a is f32[2, 3], b is f32[2, 4]; expected equal sizes along every axis but 0.");
  expect_error<ShapeError>([] { concat({ones({2})}, {.axis = 1}); },
                           "concat: axis 1 is outside the rank 1: x is f32[2]; expected -1 <= axis < 1.");
}

}  // namespace
}  // namespace anyshape
