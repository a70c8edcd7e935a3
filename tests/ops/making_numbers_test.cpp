// Making: linspace, eye and tensors of another one's shape.
#include "ops/expect_error.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

namespace anyshape {
namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

TEST(Linspace, goes_in_equal_steps_to_the_very_end) {
  EXPECT_EQ(linspace(0, 1, 5).to_vector<float>(), (Floats{0, 0.25F, 0.5F, 0.75F, 1}));
  EXPECT_EQ(linspace(0, 1, 4, {.endpoint = false}).to_vector<float>(), (Floats{0, 0.25F, 0.5F, 0.75F}));
  EXPECT_EQ(linspace(2, -2, 3, {.dtype = f64}).to_vector<double>(), (Doubles{2, 0, -2}));
  EXPECT_EQ(linspace(3, 9, 1).to_vector<float>(), (Floats{3}));
  EXPECT_TRUE(linspace(0, 1, 0).shape() == (Shape{0}));
  const Doubles many = linspace(0.1, 0.7, 50, {.dtype = f64}).to_vector<double>();
  EXPECT_EQ(many.back(), 0.7);
  for (size_t i = 0; i + 1 < many.size(); ++i) EXPECT_EQ(many[i], static_cast<double>(i) * ((0.7 - 0.1) / 49) + 0.1);
}

TEST(Linspace, refuses_integers_and_negative_counts) {
  expect_error<DtypeError>([] { linspace(0, 1, 3, {.dtype = i32}); },
                           "linspace: dtype i32 cannot hold fractions; expected a floating dtype. Use as::arange for integers.");
  expect_error<ShapeError>([] { linspace(0, 1, -1); }, "linspace: -1 numbers; expected at least 0.");
  EXPECT_THROW(linspace(0, 1, 3, {.dtype = Dtype::b8}), DtypeError);
}

TEST(Eye, has_ones_on_a_diagonal) {
  EXPECT_EQ(eye(2).to_vector<float>(), (Floats{1, 0, 0, 1}));
  EXPECT_EQ(eye(2, {.columns = 3, .offset = 1}).to_vector<float>(), (Floats{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(eye(3, {.columns = 2, .offset = -2, .dtype = i32}).to_vector<int32_t>(), (std::vector<int32_t>{0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(eye(2, {.offset = 7}).to_vector<float>(), (Floats{0, 0, 0, 0}));
  EXPECT_TRUE(eye(0).shape() == (Shape{0, 0}));
  EXPECT_TRUE(eye(0, {.columns = 4}).shape() == (Shape{0, 4}));
}

TEST(Eye, refuses_negative_sizes_and_dtypes_without_arithmetic) {
  EXPECT_THROW(eye(-1), ShapeError);
  EXPECT_THROW(eye(int64_t{1} << 40), ShapeError);  // more elements than can be counted, not more than there is memory for
  EXPECT_THROW(eye(int64_t{1} << 40, {.columns = int64_t{1} << 30}), ShapeError);
  EXPECT_THROW(eye(2, {.columns = -3}), ShapeError);
}

TEST(Likes, take_shape_and_dtype) {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(ones_like(x).to_vector<int32_t>(), (std::vector<int32_t>{1, 1, 1, 1, 1, 1}));
  EXPECT_TRUE(zeros_like(x, {.dtype = f64}).shape() == (Shape{2, 3}));
  EXPECT_EQ(zeros_like(x, {.dtype = f64}).dtype(), f64);
  EXPECT_EQ(full_like(tensor({1.0F, 2.0F}), 7).to_vector<float>(), (Floats{7, 7}));
  EXPECT_EQ(full_like(x, 2.9).dtype(), i32);
  EXPECT_TRUE(ones_like(zeros({0, 3})).shape() == (Shape{0, 3}));
  EXPECT_THROW(ones_like(Tensor()), ArgumentError);
  EXPECT_THROW(zeros_like(Tensor()), ArgumentError);
  expect_error<ShapeError>([&] { full_like(x, tensor({1, 2})); },
                           "full_like: the value is no scalar: a is i32[2, 3], b is i32[2]; expected a tensor of rank 0. Use broadcast_to "
                           "to repeat a larger one.");
}

TEST(Tensors, are_made_of_empty_lists) {
  EXPECT_TRUE(tensor(std::vector<float>{}, {0}).shape() == (Shape{0}));
  EXPECT_TRUE(tensor(std::vector<int32_t>{}, {3, 0}).shape() == (Shape{3, 0}));
  EXPECT_TRUE(tensor(std::initializer_list<float>{}).shape() == (Shape{0}));
  EXPECT_TRUE((tensor<float>({{}, {}}).shape() == Shape{2, 0}));
}

}  // namespace
}  // namespace anyshape
