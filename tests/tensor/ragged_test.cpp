// Ragged tensors from host numbers: shape, text, comparison, and the ragged axis that is no number.
#include "ops/expect_error.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ragged.h>

namespace anyshape {
namespace {

const Tensor words = ragged({{1, 2, 3}, {4, 5}, {6, 7, 8, 9}});

TEST(ragged, shape_prints_the_range_of_the_ragged_axis) {
  EXPECT_EQ(to_string(words.shape()), "[3, (2..4)]");
  EXPECT_EQ(describe(words), "i32[3, (2..4)]");
  EXPECT_EQ(words.rank(), 2);
  EXPECT_TRUE(words.is_ragged());
  EXPECT_FALSE(words.values().is_ragged());
  EXPECT_EQ(to_string(ragged<float>({{}, {}}).shape()), "[2, (0..0)]");
  EXPECT_EQ(to_string(ragged(std::vector<std::vector<double>>()).shape()), "[0, (0..0)]");
}

TEST(ragged, holds_values_and_splits) {
  EXPECT_EQ(words.to_vector<int>(), (std::vector{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(words.row_splits().to_vector<int64_t>(), (std::vector<int64_t>{0, 3, 5, 9}));
  EXPECT_EQ(words.values().to_vector<int>(), words.to_vector<int>());
  EXPECT_EQ(ragged({{7.5}}).item<double>(), 7.5);
  expect_error<ArgumentError>([] { tensor({1, 2}).row_splits(); },
                              "row_splits: the tensor is i32[2], which is dense; expected a ragged one.");
}

TEST(ragged, the_ragged_axis_is_no_number) {
  const Dim axis = words.shape()[1];
  EXPECT_TRUE(axis.is_ragged());
  EXPECT_EQ(axis.lower_bound(), 2);
  EXPECT_EQ(axis.upper_bound(), 4);
  const std::string text =
      "Dim: the ragged axis (2..4) has no single size: every row has its own; expected a size. Use row_lengths(x) for the rows' lengths, "
      "or "
      "to_padded(x) for a tensor that has one.";
  expect_error<ShapeError>([&] { axis.value(); }, text);
  expect_error<ShapeError>([&] { axis.specialize(); }, text);
  for (const Dim& other : {Dim(0), Dim(1), dim("n")}) {
    expect_error<ShapeError>([&] { axis + other; }, text);
    expect_error<ShapeError>([&] { other - axis; }, text);
    expect_error<ShapeError>([&] { axis* other; }, text);
    expect_error<ShapeError>([&] { other / axis; }, text);
    expect_error<ShapeError>([&] { axis % (other + 1); }, text);
    expect_error<ShapeError>([&] { static_cast<void>(axis == other); }, text);
    expect_error<ShapeError>([&] { static_cast<void>(other < axis); }, text);
    expect_error<ShapeError>([&] { min(axis, other); }, text);
    expect_error<ShapeError>([&] { bcast(other, axis); }, text);
  }
  expect_error<ShapeError>([] { words.shape().count(); }, text);
  EXPECT_TRUE(axis.same_as(words.shape()[1]));
  EXPECT_FALSE(axis.same_as(ragged({{1, 2}, {1, 2, 3, 4}}).shape()[1]));
}

TEST(ragged, prints_rows_as_long_as_they_are) {
  EXPECT_EQ(to_string(words), "[[1 2 3]\n [4 5]\n [6 7 8 9]]");
  EXPECT_EQ(to_string(ragged({{10, 2}, {}, {-3}})), "[[10  2]\n []\n [-3]]");
  EXPECT_EQ(to_string(ragged({{0.5}, {1.0, 2.25}})), "[[0.5 ]\n [1.   2.25]]");
  EXPECT_EQ(to_string(ragged(std::vector<std::vector<bool>>())), "[]");
  const std::vector<std::vector<int>> long_rows(10, std::vector<int>(200, 1));
  EXPECT_EQ(
      to_string(ragged(long_rows)),
      "[[1 1 1 ... 1 1 1]\n [1 1 1 ... 1 1 1]\n [1 1 1 ... 1 1 1]\n ...\n [1 1 1 ... 1 1 1]\n [1 1 1 ... 1 1 1]\n [1 1 1 ... 1 1 1]]");
}

TEST(ragged, compares_rows_and_elements) {
  EXPECT_TRUE(all_equal(words, ragged({{1, 2, 3}, {4, 5}, {6, 7, 8, 9}})));
  EXPECT_FALSE(all_equal(words, ragged({{1, 2}, {3, 4, 5}, {6, 7, 8, 9}})));
  EXPECT_FALSE(all_equal(words, words.values()));
  EXPECT_TRUE(all_close(ragged({{1.0f}, {}}), ragged({{1.000001f}, {}})));
  expect_error<ShapeError>([] { all_close(words, ragged({{1, 2}, {3, 4, 5}, {6, 7, 8, 9}})); },
                           "all_close: rows differ: a is i32[3, (2..4)], b is i32[3, (2..4)]; expected rows of equal lengths.");
}

TEST(ragged, is_refused_where_memory_is_read) {
  expect_error<ShapeError>(
      [] { contiguous(words); },
      "contiguous: the tensor is ragged: i32[3, (2..4)]; expected a dense one. Use to_padded(x) to fill up its rows, or "
      "x.values() for its elements.");
}

}  // namespace
}  // namespace anyshape
