// Tensors as text. The expected strings are what NumPy 2.4.6 prints for the same arrays.
#include "tensor/host_data.h"
#include "tensor/view.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace anyshape {
namespace {

template <class T>
Tensor counted(int64_t count, const Shape& shape) {
  std::vector<T> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), T{});
  return tensor(values, shape);
}

TEST(Print, lines_up_floats_at_the_point) {
  EXPECT_EQ(to_string(tensor({{1.f, 2.5f, -3.f}, {0.f, 100.f, 7.125f}})), "[[  1.      2.5    -3.   ]\n [  0.    100.      7.125]]");
  EXPECT_EQ(to_string(tensor({3.141592653589793, 2.0, -1.0 / 3})), "[ 3.14159265  2.         -0.33333333]");
  EXPECT_EQ(to_string(tensor({-0.f, 0.f})), "[-0.  0.]");
  EXPECT_EQ(to_string(tensor({1.f, 1000.f})), "[   1. 1000.]");
}

TEST(Print, uses_exponents_where_numpy_does) {
  EXPECT_EQ(to_string(tensor({1e-5f, 1.f, 123456.f})), "[1.00000e-05 1.00000e+00 1.23456e+05]");
  EXPECT_EQ(to_string(tensor({1e100, 1.25, -3e-7})), "[ 1.00e+100  1.25e+000 -3.00e-007]");
  EXPECT_EQ(to_string(tensor({1e6f})), "[1.e+06]");
  EXPECT_EQ(to_string(tensor({1e6})), "[1000000.]");
  // Digits beyond the shortest are exact where another element needs them.
  EXPECT_EQ(to_string(tensor({-6.5814372e-14f, -1.7138583e-13f})), "[-6.5814372e-14 -1.7138583e-13]");
}

TEST(Print, shows_what_is_not_finite) {
  EXPECT_EQ(to_string(tensor({1.5f, NAN, -INFINITY})), "[ 1.5  nan -inf]");
  EXPECT_EQ(to_string(tensor({NAN, INFINITY})), "[nan inf]");
}

TEST(Print, integers_and_bools_are_right_aligned) {
  EXPECT_EQ(to_string(tensor({{1, -20}, {300, 4}})), "[[  1 -20]\n [300   4]]");
  EXPECT_EQ(to_string(tensor({true, false})), "[ True False]");
  EXPECT_EQ(to_string(tensor({{true}, {false}})), "[[ True]\n [False]]");
}

TEST(Print, scalars_show_all_their_digits) {
  EXPECT_EQ(to_string(make_scalar(f32, 0.1)), "0.1");
  EXPECT_EQ(to_string(make_scalar(f32, 1.0)), "1.0");
  EXPECT_EQ(to_string(make_scalar(f32, 1e15)), "1e+15");
  EXPECT_EQ(to_string(make_scalar(f64, 1e15)), "1000000000000000.0");
  EXPECT_EQ(to_string(make_scalar(f64, 1e16)), "1e+16");
  EXPECT_EQ(to_string(make_scalar(f16, 12345.0)), "1.2344e+04");
  EXPECT_EQ(to_string(Tensor(true)), "True");
  EXPECT_EQ(to_string(Tensor(-7)), "-7");
}

TEST(Print, cuts_more_than_a_thousand_elements) {
  EXPECT_EQ(to_string(counted<int64_t>(1001, {1001})), "[   0    1    2 ...  998  999 1000]");
  EXPECT_EQ(to_string(counted<int>(2000, {40, 50})),
            "[[   0    1    2 ...   47   48   49]\n [  50   51   52 ...   97   98   99]\n [ 100  101  102 ...  147  148  149]\n ...\n"
            " [1850 1851 1852 ... 1897 1898 1899]\n [1900 1901 1902 ... 1947 1948 1949]\n [1950 1951 1952 ... 1997 1998 1999]]");
}

TEST(Print, nests_brackets_and_wraps_lines) {
  EXPECT_EQ(to_string(counted<int>(8, {2, 2, 2})), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
  std::vector<float> quarters(20);
  for (size_t i = 0; i < 20; ++i) quarters[i] = static_cast<float>(i) / 4;
  EXPECT_EQ(to_string(tensor(quarters, {20})),
            "[0.   0.25 0.5  0.75 1.   1.25 1.5  1.75 2.   2.25 2.5  2.75 3.   3.25\n 3.5  3.75 4.   4.25 4.5  4.75]");
}

TEST(Print, reads_through_strides) {
  const int swap[] = {1, 0};
  EXPECT_EQ(to_string(transpose_view(tensor({{1, 2}, {3, 4}}), swap)), "[[1 3]\n [2 4]]");
}

TEST(Print, half_floats_show_the_shortest_digits) {
  Tensor x = make_empty(f16, std::vector<int64_t>{3});
  const uint16_t bits[] = {0x2E66, 0x4000, 0x63D0};  // 0.1, 2, 1000
  std::copy(bits, bits + 3, host_data<uint16_t>(x));
  EXPECT_EQ(to_string(x), "[1.e-01 2.e+00 1.e+03]");
}

TEST(Print, nothing_is_empty_brackets) {
  EXPECT_EQ(to_string(make_empty(f32, std::vector<int64_t>{2, 0, 3})), "[]");
  EXPECT_EQ(to_string(Tensor()), "undefined");
}

}  // namespace
}  // namespace anyshape
