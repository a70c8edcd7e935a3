// Single elements, memory in place, tensors from vectors, and tensors on streams.
#include "ops/expect_error.h"
#include "tensor/host_data.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ragged.h>

#include <gtest/gtest.h>

#include <sstream>

namespace anyshape {
namespace {

Tensor counting() { return tensor(std::vector<float>{0, 1, 2, 3, 4, 5}, {2, 3}); }
Tensor turned(const Tensor& x) {
  const int swapped[] = {1, 0};
  return transpose_view(x, swapped);
}

TEST(Item, reads_one_element_by_its_indices) {
  const Tensor x = counting();
  EXPECT_EQ(x.item<float>(1, 2), 5);
  EXPECT_EQ(x.item<float>(-2, -1), 2);
  EXPECT_EQ(x.item<int32_t>(size_t{1}, int64_t{0}), 3);
  EXPECT_EQ(turned(x).item<float>(2, 1), 5);
  EXPECT_EQ(turned(x).item<float>(0, 1), 3);
}

TEST(Item, reads_a_ragged_tensor_row_by_row) {
  const Tensor x = ragged({{1, 2, 3}, {4}, {5, 6}});
  EXPECT_EQ(x.item<int32_t>(0, 2), 3);
  EXPECT_EQ(x.item<int32_t>(-1, -2), 5);
  expect_error<ShapeError>([&] { x.item<int32_t>(1, 1); },
                           "item: index 1 along axis 1 is outside: the tensor is i32[3, (1..3)]; expected -1 <= index < 1.");
}

TEST(Item, refuses_indices_outside_and_too_few_indices) {
  const Tensor x = counting();
  expect_error<ShapeError>([&] { x.item<float>(0, 3); },
                           "item: index 3 along axis 1 is outside: the tensor is f32[2, 3]; expected -3 <= index < 3.");
  expect_error<ShapeError>([&] { x.item<float>(-3, 0); },
                           "item: index -3 along axis 0 is outside: the tensor is f32[2, 3]; expected -2 <= index < 2.");
  expect_error<ShapeError>([&] { x.item<float>(1); },
                           "item: 1 indices for 2 axes: the tensor is f32[2, 3]; expected one index for each axis.");
  expect_error<ShapeError>([] { tensor(std::vector<float>()).item<float>(0); },
                           "item: index 0 along axis 0 is outside: the tensor is f32[0]; expected an axis with elements.");
  expect_error<ArgumentError>([] { Tensor().item<float>(0); },
                              "item: the tensor is undefined; expected a tensor with a value. It was made by Tensor() and never assigned.");
}

TEST(TensorOfVectors, takes_the_vectors_length_as_its_size) {
  const Tensor x = tensor(std::vector<double>{1, 2, 3});
  EXPECT_TRUE(x.shape() == (Shape{3}));
  EXPECT_EQ(x.to_vector<double>(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(tensor(std::vector<bool>{true, false}).to_vector<bool>(), (std::vector<bool>{true, false}));
  EXPECT_TRUE(tensor(std::vector<int32_t>()).shape() == (Shape{0}));
}

TEST(TensorOfVectors, takes_rows_of_one_length) {
  const std::vector<std::vector<int64_t>> rows = {{1, 2}, {3, 4}, {5, 6}};
  EXPECT_TRUE(all_equal(tensor(rows), tensor(std::vector<int64_t>{1, 2, 3, 4, 5, 6}, {3, 2})));
  EXPECT_TRUE(tensor(std::vector<std::vector<float>>()).shape() == (Shape{0, 0}));
  expect_error<ShapeError>([] { tensor(std::vector<std::vector<float>>{{1, 2}, {3}}); },
                           "tensor: row 1 has 1 elements, row 0 has 2; expected rows of one length. Use ragged for rows that differ.");
}

TEST(Data, shows_the_elements_in_place) {
  const Tensor x = counting();
  const std::span<const float> elements = x.data<float>();
  EXPECT_EQ(std::vector<float>(elements.begin(), elements.end()), x.to_vector<float>());
  EXPECT_EQ(static_cast<const void*>(elements.data()), host_data(x));
  const int64_t begins[] = {1, 0}, sizes[] = {1, 3}, steps[] = {1, 1};
  const Tensor row = slice_view(x, begins, sizes, steps);
  EXPECT_EQ(row.data<float>().data(), elements.data() + 3) << "a view that lies in row-major order";
  const Tensor nothing = tensor(std::vector<float>());
  EXPECT_TRUE(nothing.data<float>().empty());
  const Tensor flags = tensor({true, false});
  EXPECT_TRUE(flags.data<bool>()[0]);
}

TEST(Data, refuses_views_by_other_strides_and_other_types) {
  const Tensor x = counting(), y = turned(x);
  expect_error<ShapeError>(
      [&] { static_cast<void>(y.data<float>()); },
      "data: the elements of f32[3, 2] do not lie in row-major order: its strides are [1, 3]; expected a tensor that is no view by other "
      "strides. Use row_major(x) first, which copies it, or to_vector.");
  expect_error<DtypeError>(
      [&] { static_cast<void>(x.data<double>()); },
      "data: the tensor is f32[2, 3], its elements were asked for as double; expected float. Use cast(tensor, ...) first, or "
      "to_vector.");
  const Tensor half = make_scalar(f16, 1.0);
  EXPECT_EQ(half.data<uint16_t>()[0], 0x3C00);
  expect_error<DtypeError>(
      [&] { static_cast<void>(half.data<float>()); },
      "data: the tensor is f16[], its elements were asked for as float; expected uint16_t, their bits. Use cast(tensor, ...) "
      "first, or to_vector.");
}

TEST(Strides, are_counted_in_elements) {
  const Tensor x = counting();
  EXPECT_EQ(x.strides(), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(turned(x).strides(), (std::vector<int64_t>{1, 3}));
  const int64_t sizes[] = {4, 2, 3};
  EXPECT_EQ(broadcast_view(x, sizes).strides(), (std::vector<int64_t>{0, 3, 1}));
  EXPECT_TRUE(tensor(std::vector<float>{1}, Shape{}).strides().empty());
}

TEST(Streams, show_tensors_shapes_sizes_and_dtypes) {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  std::ostringstream out;
  out << x << " is " << x.dtype() << x.shape() << ", " << x.shape()[0] << " rows; " << Tensor();
  EXPECT_EQ(out.str(), to_string(x) + " is i32[2, 2], 2 rows; undefined");
}

}  // namespace
}  // namespace anyshape
