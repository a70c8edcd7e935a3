// Ragged tensors as arguments and results of functions: one trace for all rows, and gradients.
#include "ops/expect_error.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape {
namespace {

const Tensor small = ragged({{1.0f, 2.0f}, {3.0f}}), larger = ragged({{1.0f}, {}, {2.0f, 3.0f, 4.0f, 5.0f}, {6.0f, 7.0f}});

TEST(ragged_function, one_trace_for_all_rows) {
  const auto means = function([](const Tensor& x) { return mean(x * 2, {.axes = {1}}); }, {.name = "means"});
  EXPECT_TRUE(all_close(means(small), tensor({3.0f, 6.0f})));
  EXPECT_TRUE(all_close(slice(means(larger), {{.begin = 2}}), tensor({7.0f, 13.0f})));
  EXPECT_EQ(means(ragged<float>({})).to_vector<float>().size(), 0u);
  EXPECT_EQ(means(ragged<float>({{}})).to_vector<float>().size(), 1u);
  EXPECT_EQ(means.stats().traces, 1);
  EXPECT_EQ(means.stats().compiles, 1);
  EXPECT_EQ(means.traces()[0].signature, "(f32[a0, (a1)])");
}

TEST(ragged_function, results_have_the_rows_of_arguments) {
  const auto scaled = function([](const Tensor& x) { return softmax(x) * expand_dims(cast(row_lengths(x), f32), 1); }, {.name = "scaled"});
  const Tensor y = scaled(larger);
  EXPECT_TRUE(all_equal(y.row_splits(), larger.row_splits()));
  EXPECT_EQ(y.row_splits().impl(), larger.row_splits().impl());
  EXPECT_EQ(to_string(scaled.traces()[0].outputs[0]), "f32[a0, (a1)]");
  EXPECT_EQ(scaled(small).row_splits().impl(), small.row_splits().impl());
  EXPECT_EQ(scaled.stats().traces, 1);
}

TEST(ragged_function, results_may_have_rows_of_their_own) {
  const auto doubled = function([](const Tensor& x) { return concat({x, x}, {.axis = 1}); }, {.name = "doubled"});
  EXPECT_TRUE(all_equal(doubled(small), ragged({{1.0f, 2.0f, 1.0f, 2.0f}, {3.0f, 3.0f}})));
  EXPECT_TRUE(all_equal(doubled(ragged({{1.0f}, {}})), ragged({{1.0f, 1.0f}, {}})));
  const auto below = function([](const Tensor& x, const Tensor& y) { return concat({x, y}); }, {.name = "below"});
  EXPECT_TRUE(all_equal(below(small, ragged({{9.0f}})), ragged({{1.0f, 2.0f}, {3.0f}, {9.0f}})));
  const auto padded = function([](const Tensor& x) { return to_padded(concat({x, small}), {.value = -1}); }, {.name = "padded"});
  EXPECT_TRUE(all_equal(padded(ragged({{4.0f, 5.0f, 6.0f}})), tensor({{4.0f, 5.0f, 6.0f}, {1.0f, 2.0f, -1.0f}, {3.0f, -1.0f, -1.0f}})));
}

TEST(ragged_function, captures_ragged_tensors) {
  const auto shifted = function([](const Tensor& x) { return small + x; }, {.name = "shifted"});
  EXPECT_TRUE(all_equal(shifted(1.0f), ragged({{2.0f, 3.0f}, {4.0f}})));
  EXPECT_TRUE(all_equal(shifted(2.0f), ragged({{3.0f, 4.0f}, {5.0f}})));
  EXPECT_EQ(shifted.stats().traces, 1);
}

TEST(ragged_function, dense_and_ragged_are_different_traces) {
  const auto total = function([](const Tensor& x) { return sum(x); }, {.name = "total", .retrace = Retrace::Allow});
  EXPECT_EQ(total(small).item<float>(), 6);
  EXPECT_EQ(total(ones({2, 2})).item<float>(), 4);
  EXPECT_EQ(total.stats().traces, 2);
  EXPECT_NE(total.traces()[1].reason.find("f32[a0, (a1)] became f32[2, 2]"), std::string::npos) << total.traces()[1].reason;
}

TEST(ragged_function, signatures_name_the_ragged_axis) {
  const Dim batch = dim("batch");
  const auto weighted = function(
      [](const Tensor& x, const Tensor& y) { return sum(x * y, {.axes = {1}}); },
      {.name = "weighted",
       .signature = {spec(f32, {batch, ragged_dim("time", {.max = 4})}, "x"), spec(f32, {batch, ragged_dim("time", {.max = 4})}, "y")}});
  EXPECT_TRUE(all_close(weighted(small, small + 0), tensor({5.0f, 9.0f})));
  EXPECT_TRUE(
      all_close(weighted(larger, ragged({{1.0f}, {}, {1.0f, 1.0f, 1.0f, 1.0f}, {1.0f, 1.0f}})), tensor({1.0f, 0.0f, 14.0f, 13.0f})));
  EXPECT_EQ(weighted.stats().traces, 1);
  EXPECT_EQ(weighted.traces()[0].signature, "(x: f32[batch, (time)], y: f32[batch, (time)])");
  const std::string end = "; expected f32[batch, (time)]. Change the call or widen the signature.";
  expect_error<SignatureError>([&] { weighted(small, ones({2, 2})); },
                               "function \"weighted\": argument 1 (y) is dense: it is f32[2, 2]" + end);
  expect_error<SignatureError>(
      [&] { weighted(small, ragged({{1.0f}, {2.0f, 3.0f}})); },
      "function \"weighted\": argument 1 (y) has other rows along (time) than argument 0: it is f32[2, (1..2)]" + end);
  expect_error<SignatureError>([&] { weighted(ragged({{1.0f, 2.0f, 3.0f, 4.0f, 5.0f}}), ragged({{1.0f, 2.0f, 3.0f, 4.0f, 5.0f}})); },
                               "function \"weighted\": argument 0 (x) has rows of length 5..5, outside 0..4: it is f32[1, (5..5)]" + end);
  expect_error<ArgumentError>(
      [&] { function([](const Tensor& x) { return x; }, {.name = "f", .signature = {spec(f32, {ragged_dim("n")})}}); },
      "signature: axis 0 of f32[(n)] is ragged; expected axis 1, behind the rows.");
}

TEST(ragged_function, gradients_flow_through_rows) {
  const auto loss = [](const Tensor& x, const Tensor& per_row) { return sum(softmax(x * per_row) * x); };
  const auto gradients = [&](const Tensor& x, const Tensor& per_row) {
    GradientTape tape;
    tape.watch(x);
    tape.watch(per_row);
    return tape.gradient(loss(x, per_row), std::vector<Tensor>{x, per_row});
  };
  const Tensor x = ragged({{0.5, -1.0}, {}, {2.0, 0.25, 1.0}}), per_row = tensor({{1.0}, {2.0}, {-0.5}});
  const std::vector<Tensor> eager = gradients(x, per_row);
  EXPECT_EQ(to_string(eager[0].shape()), "[3, (0..3)]");
  // The same row by row.
  std::vector<Tensor> rows, columns;
  for (int64_t i = 0; i < 3; ++i) {
    const std::vector<Tensor> each = gradients(row(x, i), slice(per_row, {{.begin = i, .end = i + 1}, {}}));
    rows.push_back(each[0]);
    columns.push_back(each[1]);
  }
  EXPECT_TRUE(all_close(eager[0], ragged_from_rows(rows)));
  EXPECT_TRUE(all_close(reshape(eager[1], {3}), reshape(concat(columns), {3})));
  const auto traced = function([&](const Tensor& a, const Tensor& b) { return gradients(a, b); }, {.name = "gradients"});
  const std::vector<Tensor> compiled = traced(x, per_row);
  EXPECT_TRUE(all_close(compiled[0], eager[0]));
  EXPECT_TRUE(all_close(compiled[1], eager[1]));
  EXPECT_EQ(compiled[0].row_splits().impl(), x.row_splits().impl());
}

TEST(ragged_function, casts_and_exact_shapes) {
  const auto cast_in = function([](const Tensor& x) { return max(x, {.axes = {1}}); },
                                {.name = "cast_in", .signature = {spec(f32, {dynamic, ragged_dim()}, "x")}, .dtypes = DtypePolicy::Cast});
  EXPECT_TRUE(all_equal(cast_in(ragged({{1, 5}, {3}})), tensor({5.0f, 3.0f})));
  EXPECT_EQ(cast_in.traces()[0].signature, "(x: f32[n0, (n1)])");
  const auto exact = function([](const Tensor& x) { return sum(x, {.axes = {1}}); },
                              {.name = "exact", .shapes = Shapes::Exact, .retrace = Retrace::Allow});
  EXPECT_TRUE(all_equal(exact(small), tensor({3.0f, 3.0f})));
  EXPECT_TRUE(all_equal(exact(ragged({{1.0f}, {2.0f, 4.0f}})), tensor({1.0f, 6.0f})));
  EXPECT_EQ(exact.stats().traces, 1);
  EXPECT_TRUE(all_equal(exact(ragged({{1.0f}, {2.0f}})), tensor({1.0f, 2.0f})));
  EXPECT_EQ(exact.stats().traces, 2);
}

TEST(ragged_function, what_only_the_data_knows_is_an_error_inside_a_trace) {
  const auto rows = function([](const Tensor& x) { return to_rows(x)[0]; }, {.name = "rows"});
  EXPECT_NE(
      test::text_of<TraceError>([&] { rows(small); }).find("to_rows: the rows of f32[a0, (a1)] have no lengths inside a traced function"),
      std::string::npos);
}

}  // namespace
}  // namespace anyshape
