// Reductions of rows of unequal length against dense reductions of each row alone.
#include "autodiff/finite_differences.h"
#include "ops/expect_error.h"
#include "ops/segment_rows.h"

#include <limits>

namespace anyshape {
namespace {

using SegmentOp = Tensor (*)(const Tensor&, const Tensor&);
using DenseOp = Tensor (*)(const Tensor&, ReduceOptions);

struct Pair {
  const char* name;
  SegmentOp segment;
  DenseOp dense;
};
constexpr Pair reductions[] = {
    {"sum", segment::sum, sum},    {"prod", segment::prod, prod}, {"max", segment::max, max}, {"min", segment::min, min},
    {"mean", segment::mean, mean}, {"any", segment::any, any},    {"all", segment::all, all}, {"logsumexp", segment::logsumexp, logsumexp}};

bool same_or_both_nan(const Tensor& a, const Tensor& b) {
  if (!is_floating(a.dtype())) return all_equal(a, b);
  return all_equal(is_nan(a), is_nan(b)) && all_close(where(is_nan(a), 0, a), where(is_nan(b), 0, b), {.relative = 1e-12});
}

TEST(SegmentReduce, gives_what_each_row_gives_alone) {
  for (const Lengths& lengths : partitions()) {
    for (const Shape& beside : {Shape{}, Shape{5}, Shape{2, 20}}) {
      Shape shape = {total_of(lengths)};
      for (const Dim& size : beside) shape.push_back(size);
      const Tensor x = cast(random::normal(shape), f64);
      for (const Pair& pair : reductions) {
        const Tensor expected = row_by_row(x, lengths, [&](const Tensor& row) { return pair.dense(row, {.axes = {0}}); }, true);
        EXPECT_TRUE(same_or_both_nan(pair.segment(x, splits_for(lengths)), expected)) << pair.name << " of " << to_string(shape);
      }
    }
  }
}

TEST(SegmentReduce, has_the_bits_of_a_dense_row) {
  for (const int64_t length : {5, 100, 20000, 40000}) {
    const Tensor x = random::normal({3, length}), splits = splits_for({length, length, length});
    EXPECT_TRUE(all_equal(segment::sum(reshape(x, {-1}), splits), sum(x, {.axes = {1}}))) << length;
  }
  const Tensor x = random::normal({3, 50, 7});
  EXPECT_TRUE(all_equal(segment::sum(reshape(x, {150, 7}), splits_for({50, 50, 50})), sum(x, {.axes = {1}})));
}

TEST(SegmentReduce, answers_for_empty_rows) {
  const Tensor x = tensor({1.F, -2.F}), splits = splits_for({0, 2, 0});
  constexpr float last = std::numeric_limits<float>::max();
  EXPECT_EQ(segment::sum(x, splits).to_vector<float>(), (std::vector<float>{0, -1, 0}));
  EXPECT_EQ(segment::prod(x, splits).to_vector<float>(), (std::vector<float>{1, -2, 1}));
  EXPECT_EQ(segment::max(x, splits).to_vector<float>(), (std::vector<float>{-last, 1, -last}));
  EXPECT_EQ(segment::min(x, splits).to_vector<float>(), (std::vector<float>{last, -2, last}));
  EXPECT_EQ(segment::any(x, splits).to_vector<bool>(), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(segment::all(x, splits).to_vector<bool>(), (std::vector<bool>{true, true, true}));
  EXPECT_TRUE(std::isnan(segment::mean(x, splits).to_vector<float>()[0]));
  EXPECT_EQ(segment::logsumexp(x, splits).to_vector<float>()[2], -std::numeric_limits<float>::infinity());
  EXPECT_EQ(segment::max(cast(x, i32), splits).to_vector<int32_t>(), (std::vector<int32_t>{INT32_MIN, 1, INT32_MIN}));
  EXPECT_EQ(segment::min(cast(x, i64), splits).to_vector<int64_t>(), (std::vector<int64_t>{INT64_MAX, -2, INT64_MAX}));
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(segment::max(tensor({-infinity}), splits_for({1})).item<float>(), -infinity) << "an element stays what it is";
}

TEST(SegmentReduce, takes_no_rows_no_values_and_nothing_beside_them) {
  for (const Pair& pair : reductions) {
    EXPECT_TRUE(pair.segment(zeros({0}), splits_for({})).shape() == Shape{0}) << pair.name;
    EXPECT_TRUE(pair.segment(zeros({0, 3}), splits_for({0, 0})).shape() == (Shape{2, 3})) << pair.name;
    EXPECT_TRUE(pair.segment(zeros({4, 0}), splits_for({1, 3})).shape() == (Shape{2, 0})) << pair.name;
  }
  EXPECT_TRUE(segment::argmax(zeros({0}), splits_for({})).shape() == Shape{0});
}

TEST(SegmentReduce, finds_positions_in_the_row) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = tensor({1.F, 5.F, 5.F, -1.F, nan, nan, 7.F}), splits = splits_for({3, 1, 3});
  EXPECT_EQ(segment::argmax(x, splits).to_vector<int32_t>(), (std::vector<int32_t>{1, 0, 0}));
  EXPECT_EQ(segment::argmin(x, splits).to_vector<int32_t>(), (std::vector<int32_t>{0, 0, 0}));
  const Tensor columns = random::normal({60, 19});
  const Lengths lengths = {20, 1, 39};
  EXPECT_TRUE(all_equal(segment::argmin(columns, splits_for(lengths)),
                        row_by_row(columns, lengths, [](const Tensor& row) { return argmin(row, {.axis = 0}); }, true)));
}

TEST(SegmentReduce, refuses_splits_that_lead_outside) {
  expect_error<DataError>(
      [] { segment::sum(ones({3}), tensor({0, 4})); },
      "segment_sum: row split 4 at position 1 is out of order; expected splits that begin at 0, never decrease and end at 3.");
  expect_error<DataError>(
      [] { segment::softmax(ones({3}), tensor({0, 2, 1, 3})); },
      "segment_softmax: row split 1 at position 2 is out of order; expected splits that begin at 0, never decrease and end "
      "at 3.");
  expect_error<DataError>([] { segment::argmax(ones({3}), tensor({0, 0, 3})); },
                          "segment_argmax: row 0 is empty; expected at least one element in every row.");
  auto traced = function([](Tensor x, Tensor splits) { return 2 * segment::max(x + 1, splits); }, {.name = "rows"});
  EXPECT_EQ(traced(ones({3}), tensor({0, 3})).to_vector<float>(), std::vector<float>{4});
  expect_error<DataError>(
      [&] { traced(ones({3}), tensor({-1, 3})); },
      "segment_max: row split -1 at position 0 is out of order; expected splits that begin at 0, never decrease and end at 3.");
}

TEST(SegmentReduceGradients, are_those_of_finite_differences) {
  const Tensor splits = splits_for({2, 0, 3, 1});
  for (const SegmentOp op : {segment::sum, segment::prod, segment::max, segment::min, segment::logsumexp}) {
    const auto f = [&](const std::vector<Tensor>& in) { return op(in[0], splits); };
    const auto rows_with_elements = [&](const std::vector<Tensor>& in) { return where(abs(f(in)) < 1e9, f(in), 0); };
    check_gradients(rows_with_elements, {sample({6, 2}, 1)});
    check_gradients(rows_with_elements, {sample({6}, 2)});
  }
  check_second_order([&](const std::vector<Tensor>& in) { return segment::prod(in[0], splits); }, {sample({6}, 1)});
}

// A zero among the factors: nothing is divided.
TEST(SegmentReduceGradients, of_products_with_zeros) {
  const Tensor x = tensor({2.0, 0.0, 3.0, 0.0, 0.0}), splits = splits_for({3, 2});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = sum(segment::prod(x, splits));
  EXPECT_EQ(tape.gradient(y, std::vector<Tensor>{x})[0].to_vector<double>(), (std::vector<double>{0, 6, 0, 0, 0}));
}

TEST(SegmentReduce, one_trace_serves_every_partition) {
  auto traced = function(
      [](Tensor x, Tensor splits) {
        GradientTape tape;
        tape.watch(x);
        const Tensor total = sum(segment::sum(x * x, splits) * segment::logsumexp(x, splits + 0));
        return std::vector<Tensor>{segment::mean(x, splits), tape.gradient(total, std::vector<Tensor>{x})[0]};
      },
      {.name = "rows"});
  for (const Lengths& lengths : {Lengths{3, 1, 2, 4, 1}, Lengths{1}, Lengths{17, 33, 64}, Lengths{}, Lengths{700, 1, 250}}) {
    const Tensor x = random::normal({total_of(lengths)}), splits = splits_for(lengths);
    const std::vector<Tensor> got = traced(x, splits);
    EXPECT_TRUE(all_close(got[0], segment::mean(x, splits)));
    const Tensor squares = segment::sum(x * x, splits), exponents = segment::logsumexp(x, splits);
    const auto repeated = [&](const Tensor& rows) { return segment::repeat(rows, splits, total_of(lengths)); };
    const Tensor expected = 2 * x * repeated(exponents) + repeated(squares) * segment::softmax(x, splits);
    EXPECT_TRUE(all_close(got[1], expected, {.relative = 1e-4, .absolute = 1e-4}));
  }
  EXPECT_EQ(traced.stats().traces, 1);
  EXPECT_EQ(traced.stats().compiles, 1);
}

}  // namespace
}  // namespace anyshape
