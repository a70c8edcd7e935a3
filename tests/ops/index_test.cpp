// Ops that read and write by index: take, take_along_axis, gather_nd, scatter, one_hot, and their gradients.
#include "autodiff/finite_differences.h"
#include "ops/expect_error.h"

#include <anyshape/anyshape.h>

namespace anyshape {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<int32_t>;

Tensor counting(const Shape& shape, Dtype dtype = f32) { return reshape(arange(shape.count(), {.dtype = dtype}), shape); }

TEST(TakeAlongAxis, reads_one_element_per_index) {
  const Tensor x = tensor({{1.F, 2.F, 3.F}, {4.F, 5.F, 6.F}});
  EXPECT_EQ(take_along_axis(x, tensor({{2, 0}, {-1, 1}})).to_vector<float>(), (Floats{3, 1, 6, 5}));
  EXPECT_EQ(take_along_axis(x, tensor({{1, 0, -2}}), {.axis = 0}).to_vector<float>(), (Floats{4, 2, 3}));
}

TEST(TakeAlongAxis, reads_any_axis_dtype_and_size) {
  EXPECT_EQ(take_along_axis(tensor({{1, 2}, {3, 4}}), tensor(std::vector<int64_t>{1, 0, 1, 1, 0, 0}, Shape{3, 2}), {.axis = 0})
                .to_vector<int32_t>(),
            (Integers{3, 2, 3, 4, 1, 2}));
  EXPECT_TRUE(take_along_axis(ones({2, 3}), zeros({2, 0}, {.dtype = i32})).shape() == (Shape{2, 0}));
  EXPECT_TRUE(take_along_axis(ones({0, 3}), zeros({0, 5}, {.dtype = i32})).shape() == (Shape{0, 5}));
  EXPECT_EQ(take_along_axis(tensor({true, false}), tensor({1, 0, 0})).to_vector<bool>(), (std::vector<bool>{false, true, true}));
}

TEST(TakeAlongAxis, refuses_what_does_not_fit) {
  expect_error<ShapeError>([] { take_along_axis(ones({2, 3}), tensor({0})); },
                           "take_along_axis: ranks differ: a is f32[2, 3], b is i32[1]; expected a.shape == b.shape but for the axis.");
  expect_error<ShapeError>(
      [] { take_along_axis(ones({2, 3}), tensor({{0}})); },
      "take_along_axis: sizes of axis 0 differ: a is f32[2, 3], b is i32[1, 1]; expected a.shape == b.shape but for the axis.");
  expect_error<DataError>([] { take_along_axis(ones({1, 3}), tensor({{0, 3}})); },
                          "take_along_axis: index 3 at position 1 is out of range; expected -3 <= index < 3.");
}

TEST(Take, walks_batch_axes_together) {
  const Tensor x = counting({2, 3, 2});
  const Tensor taken = take(x, tensor({{2, 0}, {1, -1}}), {.axis = 1, .batch_dims = 1});
  EXPECT_TRUE(taken.shape() == (Shape{2, 2, 2}));
  EXPECT_EQ(taken.to_vector<float>(), (Floats{4, 5, 0, 1, 8, 9, 10, 11}));
  EXPECT_EQ(take(x, tensor({1, 0}), {.axis = 2, .batch_dims = 1}).to_vector<float>(), (Floats{1, 3, 5, 6, 8, 10}));
  expect_error<ShapeError>([&] { take(x, tensor({{0}}), {.axis = 0, .batch_dims = 1}); },
                           "take: batch_dims is 1 and axis 0: a is f32[2, 3, 2], b is i32[1, 1]; expected 0 <= batch_dims <= axis, and no "
                           "more than the indices have.");
  expect_error<ShapeError>(
      [&] { take(x, tensor({{0}}), {.axis = 1, .batch_dims = 1}); },
      "take: batch sizes differ: a is f32[2, 3, 2], b is i32[1, 1]; expected the first batch_dims sizes of a and b equal.");
}

TEST(GatherNd, names_leading_axes_by_components) {
  const Tensor x = counting({2, 3, 2});
  EXPECT_EQ(gather_nd(x, tensor({{1, 0}, {0, -1}})).to_vector<float>(), (Floats{6, 7, 4, 5}));
  EXPECT_EQ(gather_nd(x, tensor({1, 2, 1})).item<float>(), 11);
  EXPECT_TRUE(gather_nd(x, tensor(Integers{1, 0, 1, 1}, Shape{2, 2, 1})).shape() == (Shape{2, 2, 3, 2}));
  EXPECT_TRUE(gather_nd(x, zeros({0, 2}, {.dtype = i32})).shape() == (Shape{0, 2}));
}

TEST(GatherNd, checks_each_component_against_its_own_axis) {
  const Tensor x = ones({2, 5});
  EXPECT_NO_THROW(gather_nd(x, tensor({{1, 4}, {-2, -5}})));
  expect_error<DataError>([&] { gather_nd(x, tensor({{1, 4}, {4, 1}})); },
                          "gather_nd: index 4 at position 2 is out of range; expected -2 <= index < 2.");
  expect_error<DataError>([&] { gather_nd(x, tensor({{1, 4}, {1, -6}})); },
                          "gather_nd: index -6 at position 3 is out of range; expected -5 <= index < 5.");
  expect_error<ShapeError>(
      [&] { gather_nd(x, tensor({{0, 0, 0}})); },
      "gather_nd: an index has 3 components for rank 2: a is f32[2, 5], b is i32[1, 3]; expected 1 <= components <= rank.");
  expect_error<DtypeError>([&] { gather_nd(x, tensor({{0.F}})); },
                           "gather_nd: indices are f32; expected i32 or i64. Cast them with as::cast(indices, as::i32).");
}

TEST(Scatter, adds_updates_where_indices_point) {
  const Tensor rows = scatter(tensor({{2}, {0}, {2}}), tensor({{1.F, 2.F}, {3.F, 4.F}, {10.F, 20.F}}), {3, 2});
  EXPECT_EQ(rows.to_vector<float>(), (Floats{3, 4, 0, 0, 11, 22}));
  EXPECT_EQ(scatter(tensor({{0, 1}, {1, -1}, {0, 1}}), tensor({1, 2, 3}), {2, 3}).to_vector<int32_t>(), (Integers{0, 4, 0, 0, 0, 2}));
  EXPECT_EQ(scatter_add(tensor({1.F, 1.F}), tensor({{1}}), tensor({5.F})).to_vector<float>(), (Floats{1, 6}));
  EXPECT_EQ(scatter(zeros({0, 1}, {.dtype = i32}), ones({0, 2}), {2, 2}).to_vector<float>(), (Floats{0, 0, 0, 0}));
  EXPECT_TRUE(scatter(tensor({{0}}), ones({1, 0}), {2, 0}).shape() == (Shape{2, 0}));
}

TEST(Scatter, refuses_what_does_not_fit) {
  expect_error<ShapeError>(
      [] { scatter(tensor({{0}}), ones({2}), {4}); },
      "scatter: updates do not fit the indices and [4]: a is i32[1, 1], b is f32[2]; expected updates.shape == indices.shape[:-1] + "
      "shape[components:].");
  expect_error<ShapeError>(
      [] { scatter(tensor(Integers{0}, Shape{}), ones({}), {4}); },
      "scatter: indices are a scalar: a is i32[], b is f32[]; expected at least one axis, the last with one component per axis "
      "that is indexed.");
  expect_error<DataError>([] { scatter(tensor({{4}}), ones({1}), {4}); },
                          "scatter: index 4 at position 0 is out of range; expected -4 <= index < 4.");
}

TEST(OneHot, marks_the_class_along_a_new_axis) {
  EXPECT_EQ(one_hot(tensor({1, 0}), 3).to_vector<float>(), (Floats{0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(one_hot(tensor({1, 0}), 3, {.axis = 0, .dtype = i32}).to_vector<int32_t>(), (Integers{0, 1, 1, 0, 0, 0}));
  EXPECT_EQ(one_hot(tensor({-1, 2}), 2).to_vector<float>(), (Floats{0, 0, 0, 0})) << "outside the classes";
  EXPECT_EQ(one_hot(tensor(std::vector<uint8_t>{1}, Shape{}), 2, {.dtype = b8}).to_vector<bool>(), (std::vector<bool>{false, true}));
  EXPECT_TRUE(one_hot(zeros({2, 0}, {.dtype = i64}), 4).shape() == (Shape{2, 0, 4}));
  EXPECT_TRUE(one_hot(zeros({2}, {.dtype = i64}), 0).shape() == (Shape{2, 0}));
}

TEST(OneHot, refuses_bad_axes_classes_and_dtypes) {
  expect_error<ShapeError>([] { one_hot(tensor({0}), 2, {.axis = 2}); },
                           "one_hot: axis 2 is outside the rank 2: x is i32[1]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([] { one_hot(tensor({0}), -2); }, "one_hot: the number of classes is -2: x is i32[1]; expected 0 or more.");
  expect_error<DtypeError>([] { one_hot(tensor({0.F}), 2); },
                           "one_hot: indices are f32; expected i32 or i64. Cast them with as::cast(indices, as::i32).");
}

TEST(IndexGradients, agree_with_finite_differences) {
  const Tensor along = tensor({{2, 0, 2, -1}, {1, 1, 0, 0}});
  check_gradients([&](const std::vector<Tensor>& in) { return take_along_axis(in[0], along); }, {sample({2, 3}, 1)});
  check_gradients([&](const std::vector<Tensor>& in) { return take_along_axis(in[0], along, {.axis = 0}); }, {sample({3, 4}, 1)});
  check_gradients([&](const std::vector<Tensor>& in) { return take(in[0], tensor({{2, 0}, {1, 1}}), {.axis = 2, .batch_dims = 1}); },
                  {sample({2, 2, 3, 2}, 2)});
  const Tensor pairs = tensor({{1, 0}, {0, -1}, {1, 0}});
  check_gradients([&](const std::vector<Tensor>& in) { return gather_nd(in[0], pairs); }, {sample({2, 3, 2}, 3)});
  check_gradients([&](const std::vector<Tensor>& in) { return scatter_add(in[0], pairs, in[1]); },
                  {sample({2, 3, 2}, 4), sample({3, 2}, 5)});
  check_second_order([&](const std::vector<Tensor>& in) { return take_along_axis(in[0], along); }, {sample({2, 3}, 1)});
}

TEST(Index, one_trace_serves_every_shape) {
  auto compiled = function(
      [](Tensor x, Tensor indices) {
        return std::vector<Tensor>{take_along_axis(x, indices), one_hot(indices, x.shape()[1]),
                                   scatter(reshape(indices, {-1, 1}), reshape(indices, {-1}), {x.shape()[1]})};
      },
      {.name = "indexing"});
  for (const int rows : {1, 3, 0, 5}) {
    for (const int columns : {4, 1, 7}) {
      const Tensor x = random::normal({rows, columns}), indices = random::integers({rows, 2}, {.low = -columns, .high = columns});
      const std::vector<Tensor> got = compiled(x, indices);
      EXPECT_TRUE(all_equal(got[0], take_along_axis(x, indices)));
      EXPECT_TRUE(all_equal(got[1], one_hot(indices, columns)));
      EXPECT_TRUE(all_equal(got[2], scatter(reshape(indices, {-1, 1}), reshape(indices, {-1}), {columns})));
    }
  }
  EXPECT_EQ(compiled.stats().traces, 1);
}

}  // namespace
}  // namespace anyshape
