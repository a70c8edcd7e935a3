// Partitions, and ops that move rows: repeat, gather, concat, padding.
#include "autodiff/finite_differences.h"
#include "ops/expect_error.h"
#include "ops/segment_rows.h"

#include <algorithm>

namespace anyshape {
namespace {

using Integers = std::vector<int64_t>;

TEST(Partition, says_where_rows_and_elements_stand) {
  const Tensor splits = splits_for({3, 0, 2});
  EXPECT_EQ(segment::row_starts(splits).to_vector<int64_t>(), (Integers{0, 3, 3}));
  EXPECT_EQ(segment::row_lengths(splits).to_vector<int64_t>(), (Integers{3, 0, 2}));
  EXPECT_EQ(segment::row_ids(splits, 5).to_vector<int64_t>(), (Integers{0, 0, 0, 2, 2}));
  EXPECT_EQ(segment::row_positions(splits, 5).to_vector<int64_t>(), (Integers{0, 1, 2, 0, 1}));
  EXPECT_EQ(segment::splits_from_lengths(tensor({3, 0, 2})).to_vector<int64_t>(), (Integers{0, 3, 3, 5}));
  EXPECT_EQ(segment::splits_from_lengths(zeros({0}, {.dtype = i64})).to_vector<int64_t>(), (Integers{0}));
  EXPECT_TRUE(segment::row_ids(splits_for({}), 0).shape() == Shape{0});
  EXPECT_EQ(segment::row_ids(tensor({0, 2}), 2).to_vector<int64_t>(), (Integers{0, 0})) << "i32 splits";
  expect_error<DataError>(
      [] { segment::row_ids(tensor({0, 2}), 1); },
      "row_ids: row split 2 at position 1 is out of order; expected splits that begin at 0, never decrease and end at 1.");
}

TEST(SegmentRepeat, gives_each_element_what_its_row_has) {
  const Tensor x = tensor({{1.F, 2.F}, {3.F, 4.F}, {5.F, 6.F}});
  EXPECT_EQ(segment::repeat(x, splits_for({2, 0, 1}), 3).to_vector<float>(), (std::vector<float>{1, 2, 1, 2, 5, 6}));
  EXPECT_TRUE(segment::repeat(zeros({0, 2}), splits_for({}), 0).shape() == (Shape{0, 2}));
  expect_error<ShapeError>([&] { segment::repeat(x, splits_for({2, 1}), 3); },
                           "segment::repeat: there is not one element per row: a is f32[3, 2], b is i64[3]; expected a.shape[0] + 1 "
                           "row splits.");
}

TEST(SegmentGather, takes_rows_in_any_order_and_more_than_once) {
  const Tensor values = tensor({0.F, 1.F, 2.F, 3.F, 4.F, 5.F}), splits = splits_for({3, 0, 2, 1});
  const segment::Rows got = segment::gather_rows({values, splits}, tensor({3, 0, -4, 1}), 7);
  EXPECT_EQ(got.values.to_vector<float>(), (std::vector<float>{5, 0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(got.splits.to_vector<int64_t>(), (Integers{0, 1, 4, 7, 7}));
  const segment::Rows none = segment::gather_rows({values, splits}, zeros({0}, {.dtype = i32}), 0);
  EXPECT_TRUE(none.values.shape() == Shape{0});
  EXPECT_EQ(none.splits.to_vector<int64_t>(), Integers{0});
  // The first two of each row.
  const Tensor lengths = minimum(segment::row_lengths(splits), 2), heads = segment::splits_from_lengths(lengths);
  EXPECT_EQ(segment::gather_runs(values, segment::row_starts(splits), heads, 5).to_vector<float>(), (std::vector<float>{0, 1, 3, 4, 5}));
  expect_error<DataError>([&] { segment::gather_runs(values, tensor({5}), splits_for({2}), 2); },
                          "take: index 6 at position 1 is out of range; expected -6 <= index < 6.");
}

TEST(SegmentConcat, joins_rows_behind_each_other_and_one_by_one) {
  const segment::Rows a{tensor({1.F, 2.F, 3.F}), splits_for({2, 0, 1})}, b{tensor({4.F, 5.F, 6.F, 7.F}), splits_for({1, 3, 0})};
  const segment::Rows behind = segment::concat({a, b}), joined = segment::concat_each_row({a, b, a});
  EXPECT_EQ(behind.values.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(behind.splits.to_vector<int64_t>(), (Integers{0, 2, 2, 3, 4, 7, 7}));
  EXPECT_EQ(joined.values.to_vector<float>(), (std::vector<float>{1, 2, 4, 1, 2, 5, 6, 7, 3, 3}));
  EXPECT_EQ(joined.splits.to_vector<int64_t>(), (Integers{0, 5, 8, 10}));
}

TEST(Padded, fills_up_and_cuts) {
  const Tensor values = tensor({1.F, 2.F, 3.F, 4.F}), splits = splits_for({1, 0, 3});
  EXPECT_EQ(segment::to_padded(values, splits, 2, {.value = -1}).to_vector<float>(), (std::vector<float>{1, -1, -1, -1, 2, 3}));
  const Tensor padded = segment::to_padded(values, splits, 4);
  EXPECT_TRUE(padded.shape() == (Shape{3, 4}));
  EXPECT_TRUE(all_equal(segment::from_padded(padded, splits, 4), values));
  EXPECT_EQ(segment::from_padded(ones({3, 2}), splits, 4).to_vector<float>(), (std::vector<float>{1, 1, 1, 0}));
  EXPECT_TRUE(segment::to_padded(zeros({0, 5}), splits_for({}), 3).shape() == (Shape{0, 3, 5}));
  EXPECT_TRUE(segment::to_padded(values, splits, 0).shape() == (Shape{3, 0}));
  EXPECT_TRUE(segment::to_padded(zeros({2, 0}), splits_for({2}), 3).shape() == (Shape{1, 3, 0}));
  expect_error<ShapeError>([&] { segment::to_padded(values, splits, 2, {.value = ones({1})}); },
                           "to_padded: what fills up is no single number: a is f32[4], b is f32[1], c is i64[4]; expected b of rank 0.");
}

TEST(SegmentMovementGradients, are_those_of_finite_differences) {
  const Tensor splits = splits_for({3, 0, 2});
  check_gradients([&](const std::vector<Tensor>& in) { return segment::repeat(in[0], splits, 5); }, {sample({3, 2}, 1)});
  check_gradients([&](const std::vector<Tensor>& in) { return segment::to_padded(in[0], splits, 2, {.value = in[1]}); },
                  {sample({5, 2}, 1), sample({}, 2)});
  check_gradients([&](const std::vector<Tensor>& in) { return segment::from_padded(in[0], splits, 5); }, {sample({3, 2}, 1)});
  check_gradients([&](const std::vector<Tensor>& in) { return segment::gather_rows({in[0], splits}, tensor({2, 0, 2}), 7).values; },
                  {sample({5}, 1)});
  check_gradients(
      [&](const std::vector<Tensor>& in) { return segment::concat_each_row({{in[0], splits}, {in[1], splits_for({1, 1, 0})}}).values; },
      {sample({5, 2}, 1), sample({2, 2}, 2)});
}

TEST(Padded, one_trace_serves_every_partition) {
  const Dim rows = dim("rows"), total = dim("total"), length = dim("length");
  auto traced = function(
      [&](Tensor x, Tensor splits, Tensor like) {
        const Tensor padded = segment::to_padded(x, splits, like.shape()[1]);
        return std::vector<Tensor>{padded, segment::from_padded(padded + like, splits, x.shape()[0])};
      },
      {.name = "padded", .signature = {spec(f32, {total, 2}), spec(i64, {rows + 1}), spec(f32, {rows, length, 1})}});
  for (const Lengths& lengths : partitions()) {
    const auto count = static_cast<int64_t>(lengths.size()), longest = *std::ranges::max_element(lengths);
    const Tensor x = random::normal({total_of(lengths), 2}), splits = splits_for(lengths);
    const std::vector<Tensor> got = traced(x, splits, ones({count, longest, 1}));
    EXPECT_TRUE(all_equal(got[1], x + 1));
    for (size_t row = 0; row < lengths.size(); ++row) {
      const auto at = static_cast<int64_t>(row);
      const Tensor line = reshape(slice(got[0], {{.begin = at, .end = at + 1}}), {longest, 2});
      EXPECT_TRUE(all_equal(slice(line, {{.begin = 0, .end = lengths[row]}}), row_of(x, lengths, row)));
      EXPECT_EQ(count_nonzero(slice(line, {{.begin = lengths[row]}})).item<int64_t>(), 0);
    }
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

}  // namespace
}  // namespace anyshape
