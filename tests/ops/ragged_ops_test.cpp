// Ops on ragged tensors: each against the same op on every row alone, or on the padded tensor.
#include "ops/expect_error.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <cmath>
#include <functional>
#include <limits>

namespace anyshape {
namespace {

using Op = std::function<Tensor(const Tensor& row)>;

const Tensor numbers = ragged({{0.5, -1.0, 2.0}, {}, {3.0}, {1.5, 1.5, -4.0, 0.25}});
const Tensor full_rows = ragged({{0.5, -1.0, 2.0}, {3.0}, {1.5, 1.5, -4.0, 0.25}});

Tensor features() {
  const Tensor values = tensor<double>({1, 2, 3, 4, 5, 6, -1, -2, 0.5, 0.25, 7, 8}, {6, 2});
  return ragged_from_lengths(values, tensor({2, 0, 3, 1}));
}

// One result per row, stacked.
Tensor row_by_row(const Tensor& x, const Op& op) {
  std::vector<Tensor> results;
  for (const Tensor& each : to_rows(x)) results.push_back(op(each));
  return stack(results);
}

Tensor each_row(const Tensor& x, const Op& op) {
  std::vector<Tensor> results;
  for (const Tensor& each : to_rows(x)) results.push_back(op(each));
  return ragged_from_rows(results);
}

void expect_same(const Tensor& got, const Tensor& want) {
  EXPECT_EQ(got.is_ragged(), want.is_ragged());
  EXPECT_EQ(got.dtype(), want.dtype());
  const Tensor a = cast(got.values(), f64), b = cast(want.values(), f64);
  const Tensor differs = logical_and(a != b, logical_not(abs(a - b) <= 1e-12 * abs(b)));  // equal, or but for rounding
  const Tensor numbers = logical_not(logical_and(is_nan(got.values()), is_nan(want.values())));
  EXPECT_FALSE(any(logical_and(differs, numbers)).item<bool>()) << to_string(got) << "\nexpected\n" << to_string(want);
  if (got.is_ragged()) {
    EXPECT_TRUE(all_equal(got.row_splits(), want.row_splits()));
  }
}

TEST(ragged_ops, reductions_along_rows_are_those_of_every_row) {
  const std::vector<std::function<Tensor(const Tensor&, ReduceOptions)>> reductions = {
      [](const Tensor& x, const ReduceOptions& o) { return sum(x, o); },
      [](const Tensor& x, const ReduceOptions& o) { return prod(x, o); },
      [](const Tensor& x, const ReduceOptions& o) { return max(x, o); },
      [](const Tensor& x, const ReduceOptions& o) { return min(x, o); },
      [](const Tensor& x, const ReduceOptions& o) { return mean(x, o); },
      [](const Tensor& x, const ReduceOptions& o) { return any(x, o); },
      [](const Tensor& x, const ReduceOptions& o) { return all(x, o); },
      [](const Tensor& x, const ReduceOptions& o) { return count_nonzero(x, o); },
      [](const Tensor& x, const ReduceOptions& o) { return logsumexp(x, o); },
      [](const Tensor& x, const ReduceOptions& o) { return var(x, {.axes = o.axes, .keep_dims = o.keep_dims}); },
      [](const Tensor& x, const ReduceOptions& o) { return norm(x, {.axes = o.axes, .keep_dims = o.keep_dims}); },
  };
  for (const auto& reduce : reductions) {
    for (const bool keep : {false, true}) {
      const auto along = [&](int64_t axis) {
        return [&, axis](const Tensor& x) { return reduce(x, {.axes = {axis}, .keep_dims = keep}); };
      };
      expect_same(along(1)(numbers), row_by_row(numbers, along(0)));
      expect_same(along(1)(features()), row_by_row(features(), along(0)));
      expect_same(along(2)(features()), each_row(features(), along(1)));
      expect_same(along(-1)(features()), each_row(features(), along(1)));
      expect_same(reduce(features(), {.axes = {1, 2}, .keep_dims = keep}),
                  row_by_row(features(), [&](const Tensor& x) { return reduce(x, {.keep_dims = keep}); }));
    }
    expect_same(reduce(numbers, {}), reduce(numbers.values(), {}));
    expect_same(reduce(features(), {.axes = {0, 1}}), reduce(features().values(), {.axes = {0}}));
  }
}

TEST(ragged_ops, reductions_over_rows_take_the_rows_that_reach_a_column) {
  EXPECT_TRUE(all_close(sum(numbers, {.axes = {0}}), tensor({5.0, 0.5, -2.0, 0.25})));
  EXPECT_TRUE(all_close(mean(numbers, {.axes = {0}}), tensor({5.0 / 3, 0.25, -1.0, 0.25})));
  EXPECT_TRUE(all_close(max(numbers, {.axes = {0}}), tensor({3.0, 1.5, 2.0, 0.25})));
  EXPECT_TRUE(all_close(min(numbers, {.axes = {0}, .keep_dims = true}), tensor({{0.5, -1.0, -4.0, 0.25}})));
  EXPECT_TRUE(all_equal(max(ragged({{-3}, {-5, -7}}), {.axes = {0}}), tensor({-3, -7})));
  EXPECT_EQ(to_string(sum(features(), {.axes = {0}}).shape()), "[3, 2]");
}

TEST(ragged_ops, of_an_empty_row) {
  const Tensor nothing = ragged<float>({{}});
  EXPECT_EQ(sum(nothing, {.axes = {1}}).item<float>(), 0);
  EXPECT_EQ(max(nothing, {.axes = {1}}).item<float>(), std::numeric_limits<float>::lowest());
  EXPECT_EQ(min(nothing, {.axes = {1}}).item<float>(), std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isnan(mean(nothing, {.axes = {1}}).item<float>()));
  EXPECT_EQ(max(nothing).item<float>(), std::numeric_limits<float>::lowest());
}

TEST(ragged_ops, rows_are_walked_for_themselves) {
  const auto same = [](const auto& op, int64_t rank) {
    const Tensor x = rank == 2 ? numbers : features();
    expect_same(op(x, 1), each_row(x, [&](const Tensor& row) { return op(row, 0); }));
    if (rank == 3) expect_same(op(x, 2), each_row(x, [&](const Tensor& row) { return op(row, 1); }));
  };
  for (const int64_t rank : {2, 3}) {
    same([](const Tensor& x, int64_t axis) { return cumsum(x, {.axis = axis}); }, rank);
    same([](const Tensor& x, int64_t axis) { return cumprod(x, {.axis = axis, .reverse = true, .exclusive = true}); }, rank);
    same([](const Tensor& x, int64_t axis) { return sort(x, {.axis = axis, .descending = true}); }, rank);
    same([](const Tensor& x, int64_t axis) { return argsort(x, {.axis = axis}); }, rank);
    same([](const Tensor& x, int64_t axis) { return flip(x, {axis}); }, rank);
  }
  for (const bool keep : {false, true}) {
    expect_same(argmax(full_rows, {.axis = 1, .keep_dims = keep}),
                row_by_row(full_rows, [&](const Tensor& x) { return argmax(x, {.axis = 0, .keep_dims = keep}); }));
    expect_same(argmin(features(), {.axis = 2, .keep_dims = keep}),
                each_row(features(), [&](const Tensor& x) { return argmin(x, {.axis = 1, .keep_dims = keep}); }));
  }
  EXPECT_TRUE(all_close(softmax(full_rows), each_row(full_rows, [](const Tensor& x) { return softmax(x); })));
  EXPECT_TRUE(all_close(log_softmax(full_rows, {.axis = 1}), each_row(full_rows, [](const Tensor& x) { return log_softmax(x); })));
  EXPECT_TRUE(all_close(softmax(features()), each_row(features(), [](const Tensor& x) { return softmax(x, {.axis = 1}); })));
}

TEST(ragged_ops, dense_operands_broadcast_with_the_padded_view) {
  const Tensor x = features();
  expect_same(x + 1.0, with_rows_of(x.values() + 1.0, x));
  expect_same(tensor({10.0, 20.0}) * x, with_rows_of(x.values() * tensor({10.0, 20.0}), x));
  expect_same(x - tensor<double>({1, 2}, {1, 1, 2}), with_rows_of(x.values() - tensor({1.0, 2.0}), x));
  const Tensor per_row = tensor<double>({1, 2, 3, 4}, {4, 1, 1});
  expect_same(x + per_row, with_rows_of(x.values() + take(tensor<double>({1, 2, 3, 4}, {4, 1}), row_ids(x)), x));
  expect_same(x * x, with_rows_of(x.values() * x.values(), x));
  const Tensor other = ragged_from_lengths(x.values(), tensor({2, 0, 3, 1}));  // equal rows, another partition
  expect_same(x * other, with_rows_of(x.values() * x.values(), x));
  expect_same(where(x > 2.0, x, 0.0), with_rows_of(where(x.values() > 2.0, x.values(), 0.0), x));
  const std::string rule =
      "; expected dense operands that broadcast: of size 1 along the ragged axis, of the number of rows or 1 before it.";
  expect_error<ShapeError>([&] { numbers + zeros({4}, {.dtype = f64}); },
                           "add: a dense operand meets the ragged axis: a is f64[4, (0..4)], b is f64[4]" + rule);
  expect_error<ShapeError>([&] { numbers + zeros({3, 1}, {.dtype = f64}); },
                           "add: a dense operand has another number of rows: a is f64[4, (0..4)], b is f64[3, 1]" + rule);
  expect_error<ShapeError>([&] { zeros({1, 1, 1}) + numbers; },
                           "add: a dense operand has more axes: a is f32[1, 1, 1], b is f64[4, (0..4)]" + rule);
  expect_error<ShapeError>(
      [&] { numbers + ragged({{1.0}, {2.0}}); },
      "add: rows differ in length: a is f64[4, (0..4)], b is f64[2, (1..1)]; expected ragged operands with equal rows.");
  expect_error<ShapeError>(
      [&] { numbers + x; },
      "add: ragged operands differ in rank: a is f64[4, (0..4)], b is f64[4, (0..3), 2]; expected ragged operands of one "
      "rank.");
}

TEST(ragged_ops, rows_are_joined_taken_and_sliced) {
  const Tensor a = ragged({{1, 2}, {}, {3}}), b = ragged({{4}, {5, 6}, {}});
  EXPECT_TRUE(all_equal(concat({a, b}), ragged({{1, 2}, {}, {3}, {4}, {5, 6}, {}})));
  EXPECT_TRUE(all_equal(concat({a, b}, {.axis = 1}), ragged({{1, 2, 4}, {5, 6}, {3}})));
  EXPECT_TRUE(all_equal(concat({a, b, a}, {.axis = -1}), ragged({{1, 2, 4, 1, 2}, {5, 6}, {3, 3}})));
  EXPECT_EQ(to_string(concat({features(), features()}, {.axis = 2}).shape()), "[4, (0..3), 4]");
  EXPECT_EQ(to_string(stack({features(), features()}, {.axis = 2}).shape()), "[4, (0..3), 2, 2]");
  EXPECT_TRUE(all_equal(take(a, tensor({2, 0, 0, -2})), ragged({{3}, {1, 2}, {1, 2}, {}})));
  EXPECT_TRUE(all_equal(take(tensor({10, 11, 12, 13}), a), ragged({{11, 12}, {}, {13}})));
  EXPECT_TRUE(all_equal(take(ragged({{1, 2, 3}, {4}}), tensor({{0, -1}, {0, 0}}), {.axis = 1, .batch_dims = 1}), tensor({{1, 3}, {4, 4}})));
  EXPECT_THROW(take(ragged({{1, 2, 3}, {4}}), tensor({{0}, {1}}), {.axis = 1, .batch_dims = 1}), DataError);
  const Tensor x = ragged({{1, 2, 3}, {}, {4, 5}, {6}});
  EXPECT_TRUE(all_equal(slice(x, {{.begin = 1, .end = 3}}), ragged({{}, {4, 5}})));
  EXPECT_TRUE(all_equal(slice(x, {{.step = -2}}), ragged({{6}, {}})));
  EXPECT_TRUE(all_equal(slice(x, {{}, {.end = 2}}), ragged({{1, 2}, {}, {4, 5}, {6}})));
  EXPECT_TRUE(all_equal(slice(x, {{}, {.begin = -1}}), ragged({{3}, {}, {5}, {6}})));
  EXPECT_TRUE(all_equal(slice(x, {{}, {.begin = 1}}), ragged({{2, 3}, {}, {5}, {}})));
  EXPECT_TRUE(all_equal(slice(x, {{}, {.step = -2}}), ragged({{3, 1}, {}, {5}, {6}})));
  EXPECT_TRUE(all_equal(slice(x, {{}, {.begin = 1, .step = -1}}), ragged({{2, 1}, {}, {5, 4}, {6}})));
  EXPECT_TRUE(all_equal(flip(x), ragged({{6}, {5, 4}, {}, {3, 2, 1}})));
  EXPECT_EQ(to_string(slice(features(), {{}, {}, {.begin = 1}}).shape()), "[4, (0..3), 1]");
}

TEST(ragged_ops, axes_behind_the_ragged_one_are_ordinary) {
  const Tensor x = features();
  EXPECT_TRUE(all_close(matmul(x, tensor({{1.0, 0.0, 1.0}, {0.0, 2.0, 1.0}})),
                        with_rows_of(matmul(x.values(), tensor({{1.0, 0.0, 1.0}, {0.0, 2.0, 1.0}})), x)));
  EXPECT_EQ(to_string(matmul(x, tensor({1.0, 2.0})).shape()), "[4, (0..3)]");
  EXPECT_EQ(to_string(expand_dims(numbers, -1).shape()), "[4, (0..4), 1]");
  EXPECT_EQ(to_string(squeeze(expand_dims(numbers, 2)).shape()), "[4, (0..4)]");
  EXPECT_EQ(to_string(transpose(expand_dims(x, 2), {0, 1, 3, 2}).shape()), "[4, (0..3), 2, 1]");
  EXPECT_EQ(to_string(one_hot(ragged({{1, 0}, {2}}), 3).shape()), "[2, (1..2), 3]");
  EXPECT_TRUE(all_equal(zeros_like(ragged({{1, 2}, {}})), ragged({{0, 0}, {}})));
  EXPECT_TRUE(all_equal(cast(ragged({{1.5}, {2.5}}), i32), ragged({{1}, {2}})));
}

TEST(ragged_ops, what_has_no_rows_names_to_padded) {
  expect_error<ShapeError>([] { diag(features()); },
                           "diag: ragged input: x is f64[4, (0..3), 2]; expected dense tensors. Use to_padded(x) to fill up the rows, or "
                           "x.values() for their elements.");
  expect_error<ShapeError>([] { reshape(numbers, {8}); },
                           "reshape: cannot reshape to [8]: x is f64[4, (0..4)]; expected a shape that begins with the rows and the ragged "
                           "axis.");
  expect_error<ShapeError>([] { transpose(numbers); },
                           "transpose: permutation [1, 0]: x is f64[4, (0..4)]; expected every axis once, the rows and the ragged axis in "
                           "front.");
  expect_error<ShapeError>([] { sum(numbers, {.axes = {2}}); },
                           "sum: axis 2 is outside the rank 2: x is f64[4, (0..4)]; expected -2 <= axis < 2.");
  expect_error<ShapeError>([] { matmul(features(), features()); },
                           "matmul: a product along rows: a is f64[4, (0..3), 2], b is f64[4, (0..3), 2]; expected a of shape [rows, "
                           "(lengths), ..., k] and one matrix b; to_padded(x) for products of rows.");
  expect_error<ShapeError>([] { stack({numbers, numbers}); },
                           "stack: the new axis stands before the ragged one: a is f64[4, (0..4)], b is f64[4, (0..4)]; expected an axis "
                           "behind the ragged one, of which a tensor has one.");
  EXPECT_THROW(zeros(numbers.shape()), ShapeError);
}

}  // namespace
}  // namespace anyshape
