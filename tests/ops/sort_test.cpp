// sort, argsort, top_k, search_sorted: order, ties, NaN, axes, dtypes, gradients.
#include "autodiff/finite_differences.h"
#include "ops/expect_error.h"

#include <anyshape/anyshape.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace anyshape {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<int32_t>;
constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

TEST(Sort, puts_each_row_in_order) {
  const Tensor x = tensor({{3.F, 1.F, 2.F}, {-1.F, -3.F, 5.F}});
  EXPECT_EQ(sort(x).to_vector<float>(), (Floats{1, 2, 3, -3, -1, 5}));
  EXPECT_EQ(argsort(x).to_vector<int32_t>(), (Integers{1, 2, 0, 1, 0, 2}));
  EXPECT_EQ(sort(x, {.descending = true}).to_vector<float>(), (Floats{3, 2, 1, 5, -1, -3}));
  EXPECT_EQ(sort(x, {.axis = 0}).to_vector<float>(), (Floats{-1, -3, 2, 3, 1, 5}));
  EXPECT_EQ(argsort(x, {.axis = 0}).to_vector<int32_t>(), (Integers{1, 1, 0, 0, 0, 1}));
}

TEST(Sort, keeps_the_order_of_equals_and_puts_nan_last) {
  const Tensor x = tensor({nan, 0.F, -0.F, infinity, -infinity, 0.F, -nan, -2.F});
  EXPECT_EQ(argsort(x).to_vector<int32_t>(), (Integers{4, 7, 1, 2, 5, 3, 0, 6}));
  EXPECT_EQ(argsort(x, {.descending = true}).to_vector<int32_t>(), (Integers{3, 1, 2, 5, 7, 4, 0, 6}));
  EXPECT_TRUE(std::signbit(sort(x).to_vector<float>()[3])) << "the zeros stay what they are";
  EXPECT_EQ(argsort(tensor({2, 1, 2, 1}), {.descending = true}).to_vector<int32_t>(), (Integers{0, 2, 1, 3}));
}

TEST(Sort, takes_every_dtype_and_size) {
  EXPECT_EQ(sort(tensor({true, false, true})).to_vector<bool>(), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(sort(tensor(std::vector<uint8_t>{200, 3}, Shape{2})).to_vector<uint8_t>(), (std::vector<uint8_t>{3, 200}));
  EXPECT_EQ(sort(tensor({5, INT32_MIN, -1, INT32_MAX})).to_vector<int32_t>(), (Integers{INT32_MIN, -1, 5, INT32_MAX}));
  EXPECT_EQ(sort(tensor(std::vector<int64_t>{1, INT64_MIN, INT64_MAX}, Shape{3})).to_vector<int64_t>(),
            (std::vector<int64_t>{INT64_MIN, 1, INT64_MAX}));
  EXPECT_EQ(sort(tensor({2.5, -1e300, 1e300})).to_vector<double>(), (std::vector<double>{-1e300, 2.5, 1e300}));
  EXPECT_TRUE(sort(ones({3, 0})).shape() == (Shape{3, 0}));
  EXPECT_TRUE(sort(ones({0, 3})).shape() == (Shape{0, 3}));
  EXPECT_EQ(argsort(ones({2, 1})).to_vector<int32_t>(), (Integers{0, 0}));
}

TEST(Sort, agrees_with_a_sort_by_value_and_index_of_the_standard_library) {
  const Tensor x = random::integers({4, 1000, 3}, {.low = -100, .high = 100});
  const Integers values = x.to_vector<int32_t>(), order = argsort(x, {.axis = 1}).to_vector<int32_t>();
  for (size_t batch = 0; batch < 4; ++batch) {
    for (size_t column = 0; column < 3; ++column) {
      Integers expected(1000);
      std::iota(expected.begin(), expected.end(), 0);
      const auto at = [&](int32_t j) { return (batch * 1000 + static_cast<size_t>(j)) * 3 + column; };
      std::ranges::sort(expected, {}, [&](int32_t j) { return std::pair(values[at(j)], j); });
      for (int32_t j = 0; j < 1000; ++j) ASSERT_EQ(order[at(j)], expected[static_cast<size_t>(j)]);
    }
  }
}

TEST(TopK, gives_the_greatest_first_and_of_equals_the_first) {
  const TopK top = top_k(tensor({{1.F, 3.F, 3.F, 2.F, 3.F}, {nan, 1.F, 0.F, nan, 2.F}}), 2);
  EXPECT_EQ(top.values.to_vector<float>(), (Floats{3, 3, 2, 1}));
  EXPECT_EQ(top.indices.to_vector<int32_t>(), (Integers{1, 2, 4, 1}));
  EXPECT_TRUE(top_k(ones({3}), 0).values.shape() == (Shape{0}));
  EXPECT_EQ(top_k(tensor({{1, 5}, {2, 4}}), 1, {.axis = 0}).values.to_vector<int32_t>(), (Integers{2, 5}));
  EXPECT_EQ(top_k(tensor({1, 5, 2}), 3).indices.to_vector<int32_t>(), (Integers{1, 2, 0}));
}

TEST(Sort, refuses_bad_axes_counts_and_ranks) {
  expect_error<ShapeError>([] { sort(ones({2}), {.axis = 1}); },
                           "sort: axis 1 is outside the rank 1: x is f32[2]; expected -1 <= axis < 1.");
  expect_error<ShapeError>([] { argsort(ones({})); }, "argsort: axis -1 is outside the rank 0: x is f32[]; expected 0 <= axis < 0.");
  expect_error<ShapeError>([] { top_k(ones({2}), 3); }, "top_k: k is 3: x is f32[2]; expected 0 <= k <= the size of the axis.");
  expect_error<ShapeError>([] { top_k(ones({2}), -1); }, "top_k: k is -1: x is f32[2]; expected 0 <= k <= the size of the axis.");
  expect_error<ShapeError>([] { top_k(ones({2}), 1, {.axis = -2}); },
                           "top_k: axis -2 is outside the rank 1: x is f32[2]; expected -1 <= axis < 1.");
}

TEST(SearchSorted, finds_the_index_before_or_behind_equals) {
  const Tensor sorted = tensor({1.F, 2.F, 2.F, 4.F}), values = tensor({{0.F, 1.F, 2.F}, {3.F, 4.F, 5.F}});
  EXPECT_EQ(search_sorted(sorted, values).to_vector<int32_t>(), (Integers{0, 0, 1, 3, 3, 4}));
  EXPECT_EQ(search_sorted(sorted, values, {.side = SearchSide::Right}).to_vector<int32_t>(), (Integers{0, 1, 3, 3, 4, 4}));
  EXPECT_EQ(search_sorted(tensor({1.F, nan}), tensor({0.F, 2.F, nan})).to_vector<int32_t>(), (Integers{0, 1, 1}));
  EXPECT_EQ(search_sorted(tensor({1.F, nan}), tensor({nan}), {.side = SearchSide::Right}).to_vector<int32_t>(), (Integers{2}));
  EXPECT_EQ(search_sorted(ones({0}), tensor({1.F, nan})).to_vector<int32_t>(), (Integers{0, 0}));
  EXPECT_EQ(search_sorted(tensor({3}), 3).item<int32_t>(), 0);
  EXPECT_EQ(search_sorted(tensor({1, 3}), tensor({2.5F})).item<int32_t>(), 1) << "both in their common dtype";
  EXPECT_TRUE(search_sorted(tensor({3}), zeros({2, 0})).shape() == (Shape{2, 0}));
}

TEST(SearchSorted, agrees_with_the_standard_library_for_every_length) {
  for (const int n : {1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 1000}) {
    const Tensor sorted = sort(random::integers({n}, {.high = 50})), values = random::integers({100}, {.low = -2, .high = 53});
    const Integers in = sorted.to_vector<int32_t>(), asked = values.to_vector<int32_t>();
    const Integers left = search_sorted(sorted, values).to_vector<int32_t>();
    const Integers right = search_sorted(sorted, values, {.side = SearchSide::Right}).to_vector<int32_t>();
    for (size_t i = 0; i < asked.size(); ++i) {
      ASSERT_EQ(left[i], std::ranges::lower_bound(in, asked[i]) - in.begin());
      ASSERT_EQ(right[i], std::ranges::upper_bound(in, asked[i]) - in.begin());
    }
  }
}

TEST(SearchSorted, refuses_a_matrix_of_sorted_values) {
  expect_error<ShapeError>([] { search_sorted(ones({2, 2}), tensor({1.F})); },
                           "search_sorted: the sorted values are no vector: a is f32[2, 2], b is f32[1]; expected a of rank 1.");
  expect_error<ShapeError>([] { search_sorted(1, tensor({1})); },
                           "search_sorted: the sorted values are no vector: a is i32[], b is i32[1]; expected a of rank 1.");
}

TEST(SortGradients, go_back_to_where_values_stood) {
  check_gradients([](const std::vector<Tensor>& in) { return sort(in[0]); }, {sample({2, 5}, 1)});
  check_gradients([](const std::vector<Tensor>& in) { return sort(in[0], {.axis = 0, .descending = true}); }, {sample({4, 3}, 2)});
  check_gradients([](const std::vector<Tensor>& in) { return top_k(in[0], 2).values; }, {sample({3, 4}, 3)});
  check_second_order([](const std::vector<Tensor>& in) { return sort(in[0]); }, {sample({2, 3}, 1)});
}

TEST(Sort, one_trace_serves_every_shape) {
  auto compiled = function(
      [](Tensor x) {
        const TopK top = top_k(x, 1);
        return std::vector<Tensor>{sort(x), argsort(x, {.axis = 0}), top.values, search_sorted(sort(reshape(x, {-1})), x)};
      },
      {.name = "ordering"});
  for (const Shape& shape : {Shape{2, 3}, Shape{1, 1}, Shape{0, 4}, Shape{50, 7}}) {
    const Tensor x = random::normal(shape);
    const std::vector<Tensor> got = compiled(x);
    EXPECT_TRUE(all_equal(got[0], sort(x)));
    EXPECT_TRUE(all_equal(got[1], argsort(x, {.axis = 0})));
    EXPECT_TRUE(all_equal(got[2], max(x, {.axes = {-1}, .keep_dims = true})));
    EXPECT_TRUE(all_equal(got[3], search_sorted(sort(reshape(x, {-1})), x)));
  }
  EXPECT_EQ(compiled.stats().traces, 1);
}

}  // namespace
}  // namespace anyshape
