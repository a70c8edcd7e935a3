// Ragged tensors from rows, splits, lengths and padded tensors, and back.
#include "ops/expect_error.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>

namespace anyshape {
namespace {

const Tensor words = ragged({{1, 2, 3}, {4, 5}, {6, 7, 8, 9}});

TEST(ragged_make, from_splits_lengths_and_rows_agree) {
  const Tensor values = arange(10) + 0;
  const Tensor nine = slice(values, {{.begin = 1}});
  EXPECT_TRUE(all_equal(ragged_from_splits(nine, tensor({0, 3, 5, 9})), words));
  EXPECT_TRUE(all_equal(ragged_from_lengths(nine, tensor<int64_t>({3, 2, 4})), words));
  EXPECT_TRUE(all_equal(ragged_from_rows({tensor({1, 2, 3}), tensor({4, 5}), tensor({6, 7, 8, 9})}), words));
  EXPECT_TRUE(all_equal(with_rows_of(nine, words), words));
  EXPECT_EQ(to_string(ragged_from_rows({zeros({2, 5}), zeros({0, 5})}).shape()), "[2, (0..2), 5]");
}

TEST(ragged_make, rows_come_back) {
  EXPECT_TRUE(all_equal(row(words, 1), tensor({4, 5})));
  EXPECT_TRUE(all_equal(row(words, -1), tensor({6, 7, 8, 9})));
  const std::vector<Tensor> rows = to_rows(words);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_TRUE(all_equal(ragged_from_rows(rows), words));
  expect_error<ShapeError>([] { row(words, 3); }, "row: row 3 of i32[3, (2..4)]; expected -3 <= row < 3.");
}

TEST(ragged_make, row_arithmetic) {
  const Tensor x = ragged({{7, 7}, {}, {7}, {}});
  EXPECT_TRUE(all_equal(row_lengths(x), tensor<int64_t>({2, 0, 1, 0})));
  EXPECT_TRUE(all_equal(row_ids(x), tensor<int64_t>({0, 0, 2})));
  EXPECT_TRUE(all_equal(row_positions(x), ragged<int64_t>({{0, 1}, {}, {0}, {}})));
}

TEST(ragged_make, pads_and_cuts) {
  EXPECT_TRUE(all_equal(to_padded(words), tensor({{1, 2, 3, 0}, {4, 5, 0, 0}, {6, 7, 8, 9}})));
  EXPECT_TRUE(all_equal(to_padded(words, {.value = -1, .length = 3}), tensor({{1, 2, 3}, {4, 5, -1}, {6, 7, 8}})));
  EXPECT_TRUE(all_equal(to_padded(ragged<int>({{}, {}}), {.value = 5, .length = 1}), tensor({{5}, {5}})));
  EXPECT_EQ(to_string(to_padded(ragged<float>({{}, {}})).shape()), "[2, 0]");
  EXPECT_TRUE(all_equal(from_padded(to_padded(words), tensor({3, 2, 4})), words));
  EXPECT_TRUE(all_equal(from_padded(tensor({{1, 2}, {3, 4}}), tensor({0, 1})), ragged({{}, {3}})));
}

TEST(ragged_make, refuses_what_makes_no_rows) {
  const Tensor three = zeros({3});
  expect_error<DataError>([&] { ragged_from_splits(three, tensor({1, 3})); },
                          "ragged_from_splits: the first split is 1; expected 0, where the first row begins.");
  expect_error<DataError>(
      [&] { ragged_from_splits(three, tensor({0, 2, 1, 3})); },
      "ragged_from_splits: the splits decrease: split 1 is 2, split 2 is 1; expected every row to end where it begins or "
      "later.");
  expect_error<ShapeError>([&] { ragged_from_splits(three, tensor({0, 2})); },
                           "ragged_from_splits: the rows have 2 elements, the values 3; expected equal numbers.");
  expect_error<ShapeError>([&] { ragged_from_splits(three, zeros({0}, {.dtype = i64})); },
                           "ragged_from_splits: the splits are i64[0]; expected i64[rows + 1].");
  expect_error<DtypeError>([&] { ragged_from_splits(three, zeros({4})); },
                           "ragged_from_splits: the splits are f32[4]; expected i32 or i64.");
  expect_error<DataError>([&] { ragged_from_lengths(three, tensor({4, -1})); },
                          "ragged_from_lengths: a row has the length -1; expected lengths of at least 0.");
  expect_error<ShapeError>([&] { ragged_from_lengths(1.0, tensor({1})); },
                           "ragged_from_lengths: the values are f32[]; expected a dense tensor [total, ...] of rank 1 to 7.");
  expect_error<ArgumentError>([] { ragged_from_rows({}); }, "ragged_from_rows: there are no rows, and so no dtype; expected at least one.");
  expect_error<ShapeError>(
      [] { ragged_from_rows({zeros({2, 3}), zeros({2, 4})}); },
      "ragged_from_rows: sizes along axis 1 differ: row 1 is f32[2, 4], row 0 is f32[2, 3]; expected rows that differ in "
      "their first size only.");
  expect_error<DtypeError>([] { ragged_from_rows({zeros({2}), tensor({1})}); },
                           "ragged_from_rows: dtypes differ: row 1 is i32[1], row 0 is f32[2]; expected one dtype.");
  expect_error<DataError>([&] { from_padded(zeros({2, 3}), tensor({1, 4})); },
                          "from_padded: a row has the length 4: x is f32[2, 3]; expected lengths of at most 3.");
  expect_error<ArgumentError>([&] { to_padded(three); }, "to_padded: the tensor is f32[3], which is dense; expected a ragged one.");
}

}  // namespace
}  // namespace anyshape
