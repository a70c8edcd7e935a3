// Counts beyond what an i32 holds. What is counted stands once in memory: an axis of 2^31 and more elements repeats it.
#include "ops/expect_error.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape {
namespace {

constexpr int64_t many = (int64_t{1} << 31) + 5;

Tensor many_true() { return broadcast_to(tensor({true}), {many}); }

TEST(LargeCounts, count_nonzero_counts_beyond_i32) {
  auto counted = function([](Tensor x) { return count_nonzero(broadcast_to(x, {many})); }, {.name = "counted"});
  EXPECT_EQ(counted(tensor({true})).item<int64_t>(), many);
}

TEST(LargeCounts, sum_and_cumsum_refuse_more_truth_values_than_an_i32_counts) {
  const std::string rule =
      "truth values do not add up in i32: x is b8[2147483653]; expected at most 2147483647 of them. Use "
      "count_nonzero(x), which counts in i64.";
  expect_error<ShapeError>([] { sum(many_true()); }, "sum: 2147483653 " + rule);
  expect_error<ShapeError>([] { cumsum(many_true()); }, "cumsum: 2147483653 " + rule);
  EXPECT_EQ(sum(tensor({true, false, true})).dtype(), i32);
  EXPECT_EQ(cumsum(tensor({true, false, true})).to_vector<int32_t>(), (std::vector<int32_t>{1, 1, 2}));
}

TEST(LargeCounts, a_trace_refuses_them_when_it_is_called) {
  auto counted = function([](Tensor x) { return sum(x); }, {.name = "counted"});
  EXPECT_EQ(counted(tensor({true, false, true})).item<int32_t>(), 2);
  EXPECT_THROW(counted(many_true()), ShapeError);
  EXPECT_EQ(counted(tensor({true})).item<int32_t>(), 1) << "and goes on";
  auto rows = function([](Tensor x) { return sum(x, {.axes = {1}}); }, {.name = "rows"});
  EXPECT_EQ(rows(broadcast_to(tensor({true}), {3, 2})).to_vector<int32_t>(), (std::vector<int32_t>{2, 2, 2}));
}

TEST(LargeCounts, ragged_rows_count_as_well) {
  const Tensor x = ragged_from_rows({tensor({true, false}), tensor({true, true, true})});
  EXPECT_EQ(sum(x, {.axes = {1}}).to_vector<int32_t>(), (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(sum(x).item<int32_t>(), 4);
  EXPECT_EQ(count_nonzero(x, {.axes = {1}}).to_vector<int64_t>(), (std::vector<int64_t>{1, 3}));
  auto traced = function([](Tensor given) { return sum(given, {.axes = {1}}); }, {.name = "traced"});
  EXPECT_EQ(traced(x).to_vector<int32_t>(), (std::vector<int32_t>{1, 3}));
}

TEST(LargeCounts, arange_refuses_numbers_that_do_not_fit) {
  const std::string rule = "; expected numbers from -2147483648 to 2147483647. Use {.dtype = as::i64}.";
  expect_error<ShapeError>([] { arange(many); }, "arange: numbers from 0 to 2147483652 do not fit i32" + rule);
  expect_error<ShapeError>([] { arange(many, many + 3); }, "arange: numbers from 2147483653 to 2147483655 do not fit i32" + rule);
  expect_error<ShapeError>([] { arange(-many, -many + 3); }, "arange: numbers from -2147483653 to -2147483651 do not fit i32" + rule);
  expect_error<ShapeError>([] { arange(300, {.dtype = u8}); },
                           "arange: numbers from 0 to 299 do not fit u8; expected numbers from 0 to 255. Use {.dtype = as::i64}.");
  EXPECT_EQ(arange(many, many + 2, {.dtype = i64}).to_vector<int64_t>(), (std::vector<int64_t>{many, many + 1}));
  EXPECT_EQ(arange(2147483646, int64_t{1} << 31).to_vector<int32_t>(), (std::vector<int32_t>{2147483646, 2147483647}));
  EXPECT_EQ(arange(254, 256, {.dtype = u8}).to_vector<uint8_t>(), (std::vector<uint8_t>{254, 255}));
  EXPECT_TRUE(arange(many, many).shape() == (Shape{0})) << "no number at all";
}

TEST(LargeCounts, a_trace_refuses_an_arange_that_does_not_fit_when_it_is_called) {
  auto last = function([](Tensor x) { return max(arange(x.shape()[0])); }, {.name = "last"});
  EXPECT_EQ(last(zeros({7})).item<int32_t>(), 6);
  EXPECT_THROW(last(many_true()), ShapeError);
}

}  // namespace
}  // namespace anyshape
