// Taking by index, and ops that make tensors: full, ones, zeros, arange, size, random numbers.
#include "ops/expect_error.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/random.h>

#include <cmath>

namespace anyshape {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<int32_t>;

Tensor counting(const Shape& shape) { return reshape(arange(shape.count(), {.dtype = f32}), shape); }

TEST(Take, reads_along_the_axis_and_counts_negative_indices_from_the_end) {
  const Tensor x = counting({3, 2});
  EXPECT_EQ(take(x, tensor({2, 0, -1})).to_vector<float>(), (Floats{4, 5, 0, 1, 4, 5}));
  EXPECT_EQ(take(x, tensor({1}), {.axis = 1}).to_vector<float>(), (Floats{1, 3, 5}));
  EXPECT_TRUE(take(x, tensor({{0, 1}, {2, 2}})).shape() == (Shape{2, 2, 2}));
  EXPECT_EQ(take(x, tensor(std::vector<int64_t>{1}, Shape{})).to_vector<float>(), (Floats{2, 3}));
  EXPECT_TRUE(take(x, tensor(Integers{}, Shape{0})).shape() == (Shape{0, 2}));
  EXPECT_EQ(take(x, tensor({0}), {.axis = -1}).to_vector<float>(), (Floats{0, 2, 4}));
}

TEST(Take, refuses_indices_outside_and_indices_that_are_no_integers) {
  EXPECT_THROW(take(ones({3}), tensor({3})), DataError);
  EXPECT_THROW(take(ones({3}), tensor({0, -4})), DataError);
  EXPECT_THROW(take(ones({0}), tensor({0})), DataError);
  expect_error<DtypeError>([] { take(ones({3}), tensor({1.0F})); },
                           "take: indices are f32; expected i32 or i64. Cast them with as::cast(indices, as::i32).");
  expect_error<ShapeError>([] { take(ones({3}), tensor({0}), {.axis = 1}); },
                           "take: axis 1 is outside the rank 1: a is f32[3], b is i32[1]; expected -1 <= axis < 1.");
  expect_error<ShapeError>(
      [] { take(ones({1, 1, 1, 1, 1}), zeros({1, 1, 1, 1, 1}, {.dtype = i32})); },
      "take: the result would have rank 9: a is f32[1, 1, 1, 1, 1], b is i32[1, 1, 1, 1, 1]; expected a result of at most rank 8.");
}

TEST(Making, fills_with_a_value_of_its_dtype) {
  EXPECT_EQ(full({2}, 1.5F).to_vector<float>(), (Floats{1.5F, 1.5F}));
  EXPECT_EQ(full({2}, 7).to_vector<int32_t>(), (Integers{7, 7}));
  EXPECT_EQ(ones({2, 1}).to_vector<float>(), (Floats{1, 1}));
  EXPECT_EQ(zeros({3}, {.dtype = i64}).to_vector<int64_t>(), (std::vector<int64_t>{0, 0, 0}));
  EXPECT_TRUE(ones({0, 5}).shape() == (Shape{0, 5}));
  EXPECT_EQ(full({}, 2.0).item<double>(), 2.0);
}

TEST(Making, counts) {
  EXPECT_EQ(arange(4).to_vector<int32_t>(), (Integers{0, 1, 2, 3}));
  EXPECT_EQ(arange(-1, 2, {.dtype = f32}).to_vector<float>(), (Floats{-1, 0, 1}));
  EXPECT_TRUE(arange(3, 1).shape() == (Shape{0}));
  EXPECT_EQ(size(ones({2, 5}), -1).item<int64_t>(), 5);
  EXPECT_EQ(size(ones({2, 5}), 0).dtype(), i64);
}

TEST(Making, refuses_bad_sizes_values_and_dtypes) {
  expect_error<ShapeError>([] { full({2, -1}, 0); }, "full: shape [2, -1] has the size -1: x is i32[]; expected sizes of at least 0.");
  expect_error<ShapeError>(
      [] { full({2}, ones({2})); },
      "full: the value is no scalar: x is f32[2]; expected a tensor of rank 0. Use broadcast_to to repeat a larger one.");
  EXPECT_THROW(ones({int64_t{1} << 40, int64_t{1} << 40}), ShapeError);
  expect_error<DtypeError>([] { arange(3, {.dtype = b8}); }, "arange: numbers do not count in b8; expected a dtype of numbers.");
  expect_error<ShapeError>([] { size(ones({2}), 1); }, "size: axis 1 is outside the rank 1: x is f32[2]; expected -1 <= axis < 1.");
}

TEST(Random, has_the_asked_moments_and_repeats_with_the_seed) {
  random::set_seed(7);
  const Tensor x = random::normal({20000}, {.mean = 2, .deviation = 3});
  const double mean_of_x = mean(x).item<float>(), deviation = std::sqrt(mean((x - mean_of_x) * (x - mean_of_x)).item<float>());
  EXPECT_NEAR(mean_of_x, 2, 0.1);
  EXPECT_NEAR(deviation, 3, 0.1);
  const Tensor u = random::uniform({20000}, {.low = -1, .high = 3, .dtype = f64});
  EXPECT_NEAR(mean(u).item<double>(), 1, 0.05);
  EXPECT_LT(max(u).item<double>(), 3);
  EXPECT_GE(-max(-u).item<double>(), -1);
  random::set_seed(7);
  EXPECT_TRUE(all_equal(random::normal({20000}, {.mean = 2, .deviation = 3}), x));
  EXPECT_FALSE(all_equal(random::normal({20000}, {.mean = 2, .deviation = 3}), x)) << "another call draws other numbers";
  EXPECT_TRUE(random::normal({0, 2}).shape() == (Shape{0, 2}));
}

TEST(Random, refuses_bad_options) {
  expect_error<ArgumentError>([] { random::normal({2}, {.deviation = -1}); },
                              "random::normal: deviation is -1; expected a number of at least 0.");
  expect_error<ArgumentError>([] { random::uniform({2}, {.low = 1, .high = 0}); },
                              "random::uniform: low is 1 and high is 0; expected low <= high.");
  expect_error<DtypeError>([] { random::normal({2}, {.dtype = i32}); },
                           "random::normal: random numbers of dtype i32; expected f32 or f64. Make f32 and cast it.");
  expect_error<ShapeError>([] { random::uniform({-2}); }, "random::uniform: shape [-2] has the size -2; expected sizes of at least 0.");
}

}  // namespace
}  // namespace anyshape
