// Movement: slices with steps, what is cut apart and put together again, and axes read backwards or from another index.
#include "ops/expect_error.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <cstdlib>

namespace anyshape {
namespace {

using Floats = std::vector<float>;

Tensor counting(const Shape& shape) { return reshape(arange(shape.count(), {.dtype = f32}), shape); }

// Python's rule for x[begin:end:step], element by element.
Floats python_slice(int64_t size, std::optional<int64_t> begin, std::optional<int64_t> end, int64_t step) {
  const int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? size : size - 1;
  const auto bound = [&](std::optional<int64_t> given, int64_t otherwise) {
    if (!given) return otherwise;
    return *given < 0 ? std::max(*given + size, lowest) : std::min(*given, highest);
  };
  Floats result;
  const int64_t last = bound(end, step > 0 ? highest : lowest);
  for (int64_t i = bound(begin, step > 0 ? lowest : highest); step > 0 ? i < last : i > last; i += step) {
    result.push_back(static_cast<float>(i));
  }
  return result;
}

TEST(Slice, steps_as_python_does_for_every_bound) {
  const std::vector<std::optional<int64_t>> bounds = {std::nullopt, -9, -5, -4, -1, 0, 1, 3, 4, 5, 9};
  for (const int64_t size : {0, 1, 2, 5}) {
    const Tensor x = counting({size});
    for (const auto& begin : bounds) {
      for (const auto& end : bounds) {
        for (const int64_t step : {1, 2, 3, 7, -1, -2, -3, -7}) {
          SliceRange range{.step = step};
          if (begin) range.begin = *begin;
          if (end) range.end = *end;
          EXPECT_EQ(slice(x, {range}).to_vector<float>(), python_slice(size, begin, end, step))
              << size << " [" << begin.value_or(99) << ":" << end.value_or(99) << ":" << step << "]";
        }
      }
    }
  }
}

TEST(Slice, steps_along_several_axes_and_of_slices) {
  const Tensor x = counting({4, 6});
  EXPECT_EQ(slice(x, {{3, 0, -2}, {.begin = 1, .step = 2}}).to_vector<float>(), (Floats{19, 21, 23, 7, 9, 11}));
  const Tensor odd = slice(x, {{}, {.begin = 1, .step = 2}});
  EXPECT_EQ(slice(odd, {{2}, {.step = -1}}).to_vector<float>(), (Floats{17, 15, 13, 23, 21, 19}));
  EXPECT_EQ(slice(tensor({true, false, false}), {{.step = -1}}).to_vector<bool>(), (std::vector<bool>{false, false, true}));
}

TEST(Slice, refuses_a_step_of_zero) {
  expect_error<ShapeError>([] { slice(ones({3}), {{0, 2, 0}}); },
                           "slice: the step along axis 0 is 0: x is f32[3]; expected a step other than 0.");
}

TEST(Stack, puts_tensors_along_a_new_axis) {
  const Tensor a = counting({2, 2}), b = a + 10;
  EXPECT_EQ(stack({a, b}).to_vector<float>(), (Floats{0, 1, 2, 3, 10, 11, 12, 13}));
  EXPECT_EQ(stack({a, b}, {.axis = 1}).to_vector<float>(), (Floats{0, 1, 10, 11, 2, 3, 12, 13}));
  EXPECT_EQ(stack({a, b}, {.axis = -1}).to_vector<float>(), (Floats{0, 10, 1, 11, 2, 12, 3, 13}));
  EXPECT_TRUE(stack({a, b}, {.axis = 2}).shape() == (Shape{2, 2, 2}));
  EXPECT_TRUE(stack({zeros({0, 3}), zeros({0, 3})}, {.axis = 1}).shape() == (Shape{0, 2, 3}));
  EXPECT_EQ(stack({Tensor(1), Tensor(2.5F)}).to_vector<float>(), (Floats{1, 2.5F}));
}

TEST(Stack, refuses_other_shapes_and_axes) {
  expect_error<ArgumentError>([] { stack({}); }, "stack: got 0 tensors; expected at least one.");
  expect_error<ShapeError>([] { stack({ones({2}), ones({3})}); },
                           "stack: sizes along axis 0 differ: a is f32[2], b is f32[3]; expected tensors of one shape.");
  expect_error<ShapeError>([] { stack({ones({2}), ones({2, 1})}); },
                           "stack: ranks differ: a is f32[2], b is f32[2, 1]; expected tensors of one shape.");
  expect_error<ShapeError>([] { stack({ones({2})}, {.axis = 2}); },
                           "stack: axis 2 is outside the rank 2: x is f32[2]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([] { stack({ones({1, 1, 1, 1, 1, 1, 1, 1})}); },
                           "stack: the result would have rank 9: x is f32[1, 1, 1, 1, 1, 1, 1, 1]; expected a result of at most rank 8.");
}

TEST(Unstack, is_the_reverse_of_stack) {
  const Tensor x = counting({2, 3});
  for (const int64_t axis : {0, 1, -1}) {
    EXPECT_TRUE(all_equal(stack(unstack(x, {.axis = axis}), {.axis = axis}), x));
  }
  EXPECT_EQ(unstack(x, {.axis = 1})[2].to_vector<float>(), (Floats{2, 5}));
  EXPECT_TRUE(unstack(zeros({0, 3})).empty());
  EXPECT_EQ(unstack(tensor({7, 8}))[1].item<int32_t>(), 8);
}

TEST(Unstack, refuses_axes_that_are_not_there) {
  expect_error<ShapeError>([] { unstack(ones({2}), {.axis = 1}); },
                           "unstack: axis 1 is outside the rank 1: x is f32[2]; expected -1 <= axis < 1.");
  expect_error<ShapeError>([] { unstack(1.0F); }, "unstack: axis 0 is outside the rank 0: x is f32[]; expected 0 <= axis < 0.");
  EXPECT_THROW(unstack(Tensor()), ArgumentError);
}

TEST(Split, cuts_in_equal_parts_and_at_indices) {
  const Tensor x = counting({6, 2});
  const std::vector<Tensor> even = split(x, 3);
  ASSERT_EQ(even.size(), 3U);
  EXPECT_EQ(even[1].to_vector<float>(), (Floats{4, 5, 6, 7}));
  EXPECT_TRUE(all_equal(concat(even), x));
  const std::vector<Tensor> parts = split(x, {2, 2, 9}), one = split(x, {1}, {.axis = -1});
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_TRUE(parts[1].shape() == (Shape{0, 2}));
  EXPECT_TRUE(parts[3].shape() == (Shape{0, 2})) << "an index past the end is moved there";
  EXPECT_TRUE(all_equal(concat(parts), x));
  ASSERT_EQ(one.size(), 2U);
  EXPECT_EQ(one[1].to_vector<float>(), (Floats{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(split(x, {-1})[1].to_vector<float>(), (Floats{10, 11}));
  EXPECT_EQ(split(zeros({0}), 4).size(), 4U);
}

TEST(Split, refuses_uneven_parts) {
  expect_error<ShapeError>([] { split(ones({5, 2}), 3); },
                           "split: size 5 along axis 0 in 3 sections: x is f32[5, 2]; expected a number of sections that divides the "
                           "axis's size.");
  expect_error<ShapeError>([] { split(ones({4}), 0); },
                           "split: size 4 along axis 0 in 0 sections: x is f32[4]; expected a number of sections that divides the axis's "
                           "size.");
  expect_error<ShapeError>([] { split(ones({4}), {2}, {.axis = 1}); },
                           "split: axis 1 is outside the rank 1: x is f32[4]; expected -1 <= axis < 1.");
}

TEST(Flip, reads_axes_backwards) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(flip(x).to_vector<float>(), (Floats{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(flip(x, {0}).to_vector<float>(), (Floats{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(flip(x, {-1}).to_vector<float>(), (Floats{2, 1, 0, 5, 4, 3}));
  EXPECT_TRUE(flip(zeros({0, 2})).shape() == (Shape{0, 2}));
  EXPECT_EQ(flip(Tensor(3)).item<int32_t>(), 3);
}

TEST(Flip, refuses_axes_outside_and_twice) {
  expect_error<ShapeError>([] { flip(ones({2}), {1}); }, "flip: axis 1 is outside the rank 1: x is f32[2]; expected -1 <= axis < 1.");
  expect_error<ShapeError>([] { flip(ones({2}), {0, -1}); }, "flip: axis 0 is named twice: x is f32[2]; expected every axis at most once.");
  EXPECT_THROW(flip(Tensor()), ArgumentError);
}

TEST(Roll, moves_around_the_end) {
  const Tensor x = counting({5});
  for (const int64_t shift : {0, 1, 4, 5, 7, -1, -5, -12}) {
    Floats expected(5);
    for (int64_t i = 0; i < 5; ++i) expected[static_cast<size_t>(((i + shift) % 5 + 5) % 5)] = static_cast<float>(i);
    EXPECT_EQ(roll(x, shift, {.axis = 0}).to_vector<float>(), expected) << shift;
  }
  EXPECT_EQ(roll(counting({2, 3}), 1).to_vector<float>(), (Floats{5, 0, 1, 2, 3, 4})) << "without an axis: of all elements";
  EXPECT_EQ(roll(counting({2, 3}), -1, {.axis = 1}).to_vector<float>(), (Floats{1, 2, 0, 4, 5, 3}));
  EXPECT_TRUE(roll(zeros({0, 2}), 3, {.axis = 0}).shape() == (Shape{0, 2}));
  EXPECT_EQ(roll(Tensor(4), 1).item<int32_t>(), 4);
}

TEST(Roll, refuses_axes_that_are_not_there) {
  expect_error<ShapeError>([] { roll(ones({2}), 1, {.axis = 1}); },
                           "roll: axis 1 is outside the rank 1: x is f32[2]; expected -1 <= axis < 1.");
  expect_error<ShapeError>([] { roll(1.0F, 1, {.axis = 0}); }, "roll: axis 0 is outside the rank 0: x is f32[]; expected 0 <= axis < 0.");
  EXPECT_THROW(roll(Tensor(), 1), ArgumentError);
}

}  // namespace
}  // namespace anyshape
