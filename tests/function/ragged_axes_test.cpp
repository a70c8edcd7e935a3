// Ops along axes behind the ragged one: as row by row, in values and gradients, eagerly and in a trace; other axes are refused by name.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <functional>

namespace anyshape::test {
namespace {

using Op = std::function<Tensor(const Tensor&)>;

Tensor rows_of_vectors() {
  const Tensor values = reshape(cast(arange(7 * 6), f64), {7, 6}) * 0.25 - 3.0;
  return ragged_from_lengths(values, tensor({3, 0, 4}));
}

// A number that depends on every element of the result.
Tensor weighted(const Tensor& y) { return sum(square(y.values()) + y.values()); }

Tensor gradient_of(const Op& op, const Tensor& values, const std::function<Tensor(const Tensor&)>& around) {
  const Variable x(values);
  GradientTape tape;
  const Tensor total = weighted(op(around(x.read())));
  return tape.gradient(total, {x})[0];
}

// `op` takes rows [rows, length, 6] and gives rows; on one row it is called as [1, length, 6].
void expect_as_row_by_row(const Op& op) {
  const Tensor x = rows_of_vectors();
  std::vector<Tensor> expected, slopes;
  for (const Tensor& row : to_rows(x)) {
    expected.push_back(squeeze(op(expand_dims(row, 0)), {0}));
    slopes.push_back(gradient_of(op, row, [](const Tensor& values) { return expand_dims(values, 0); }));
  }
  const Tensor rows = ragged_from_rows(expected), slope = concat(slopes);
  const Tensor eager = op(x);
  ASSERT_TRUE(eager.is_ragged());
  EXPECT_TRUE(all_close(eager.values(), rows.values())) << to_string(eager.values()) << "\n" << to_string(rows.values());
  EXPECT_TRUE(all_equal(row_lengths(eager), row_lengths(x)));
  const auto in_rows = [&](const Tensor& values) { return with_rows_of(values, x); };
  EXPECT_TRUE(all_close(gradient_of(op, x.values(), in_rows), slope));

  auto traced = function(
      [&](Tensor rows) {
        GradientTape tape;
        const Tensor values = rows.values();
        tape.watch(values);
        const Tensor y = op(with_rows_of(values, rows));
        return std::pair(y, tape.gradient(weighted(y), {values})[0]);
      },
      {.name = "traced", .signature = {spec(f64, {dim("rows"), ragged_dim("time"), 6}, "x")}});
  const auto [result, gradient] = traced(x);
  EXPECT_TRUE(all_close(result.values(), rows.values()));
  EXPECT_TRUE(all_close(gradient, slope));
  traced(ragged_from_lengths(ones({2, 6}, {.dtype = f64}), tensor({2})));
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(RaggedAxes, movement_behind_the_rows_is_as_row_by_row) {
  expect_as_row_by_row([](const Tensor& x) {
    const std::vector<Tensor> parts = split(x, 3, {.axis = -1});
    return parts[0] * parts[2] + parts[1];
  });
  expect_as_row_by_row([](const Tensor& x) { return split(x, {2}, {.axis = 2})[1]; });
  expect_as_row_by_row([](const Tensor& x) {
    const std::vector<Tensor> parts = unstack(x, {.axis = 2});
    return parts[5] - parts[0];
  });
  expect_as_row_by_row([](const Tensor& x) { return pad(x, {{}, {}, {1, 2}}, {.value = 0.5}); });
  expect_as_row_by_row([](const Tensor& x) { return pad(x, {{}, {}, {2, 1}}, {.mode = PadMode::Reflect}); });
  expect_as_row_by_row([](const Tensor& x) { return roll(x, 2, {.axis = -1}); });
  expect_as_row_by_row([](const Tensor& x) { return tile(x, {2}); });
  expect_as_row_by_row([](const Tensor& x) { return tile(x, {1, 1, 3}); });
  expect_as_row_by_row([](const Tensor& x) { return repeat(x, 2, {.axis = 2}); });
}

TEST(RaggedAxes, products_behind_the_rows_are_as_row_by_row) {
  const Tensor w = reshape(cast(arange(12), f64), {6, 2}) * 0.1;
  expect_as_row_by_row([&](const Tensor& x) { return einsum("btd,de->bte", {x, w}); });
  expect_as_row_by_row([&](const Tensor& x) { return einsum("btd, btd -> bt", {x, x * 0.5}); });
  expect_as_row_by_row([&](const Tensor& x) { return einsum("ed,btd->bte", {transpose(w), x}); });
  expect_as_row_by_row([&](const Tensor& x) { return tensordot(x, w, 1); });
  expect_as_row_by_row([&](const Tensor& x) { return tensordot(x, w, {-1}, {0}); });
}

TEST(RaggedAxes, a_dense_operand_of_einsum_may_have_the_rows) {
  const Tensor x = rows_of_vectors(), per_row = reshape(cast(arange(18), f64), {3, 6});
  const Tensor y = einsum("btd,bd->bt", {x, per_row});
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < 3; ++i) rows.push_back(matmul(row(x, i), squeeze(slice(per_row, {{i, i + 1}}), {0})));
  EXPECT_TRUE(all_close(y.values(), ragged_from_rows(rows).values()));
}

void expect_refused(const std::function<void()>& call, const std::string& expected) {
  try {
    call();
    ADD_FAILURE() << "not refused: " << expected;
  } catch (const ShapeError& error) {
    EXPECT_EQ(std::string(error.what()), expected);
  }
}

TEST(RaggedAxes, rows_and_the_ragged_axis_are_refused_with_op_axis_and_what_to_use) {
  const Tensor x = rows_of_vectors();
  const std::string rule =
      "expected an axis behind the ragged one. Use to_padded(x) for the rows as a dense tensor, or x.values() for their elements.";
  expect_refused([&] { split(x, 3, {.axis = 1}); }, "split: axis 1 is the ragged one: x is f64[3, (0..4), 6]; " + rule);
  expect_refused([&] { unstack(x); }, "unstack: axis 0 is that of the rows: x is f64[3, (0..4), 6]; " + rule);
  expect_refused([&] { pad(x, {{}, {1, 0}}); }, "pad: axis 1 is the ragged one: x is f64[3, (0..4), 6]; " + rule);
  expect_refused([&] { roll(x, 1, {.axis = -2}); }, "roll: axis 1 is the ragged one: x is f64[3, (0..4), 6]; " + rule);
  expect_refused([&] { roll(x, 1); }, "roll: no axis is named: x is f64[3, (0..4), 6]; " + rule);
  expect_refused([&] { tile(x, {2, 1, 1}); }, "tile: axis 0 is that of the rows: x is f64[3, (0..4), 6]; " + rule);
  expect_refused([&] { repeat(x, 2, {.axis = 1}); }, "repeat: axis 1 is the ragged one: x is f64[3, (0..4), 6]; " + rule);
  expect_refused([&] { tensordot(x, ones({4, 2}, {.dtype = f64}), {1}, {0}); },
                 "tensordot: axis 1 is the ragged one: a is f64[3, (0..4), 6], b is f64[4, 2]; " + rule);
  expect_refused(
      [&] { outer(x, x); },
      "outer: an operand is ragged, and all elements of a meet all of b: a is f64[3, (0..4), 6], b is f64[3, (0..4), 6]; expected "
      "dense operands. Use x.values() for the elements of all rows, or to_padded(x) for the rows as a dense tensor.");
  expect_refused(
      [&] { einsum("btd->bd", {x}); },
      "einsum: subscripts \"btd->bd\" on ragged rows: the result does not begin with \"bt\": x is f64[3, (0..4), 6]; expected the "
      "first two subscripts of ragged operands, rows and lengths, at the front of the result and nowhere else: \"btd,de->bte\". "
      "Use to_padded(x) for other products.");
  expect_refused([&] { vdot(x, x); },
                 "vdot: it would need one size for the ragged axis (0..4): a is f64[3, (0..4), 6], b is f64[3, (0..4), 6]; expected dense "
                 "tensors, or axes behind the ragged one. Use to_padded(x) to fill up the rows, or x.values() for their elements.");
}

TEST(RaggedAxes, what_a_trace_cannot_size_names_the_traced_spelling) {
  const auto refused = [](const std::function<Tensor(Tensor)>& body) -> std::string {
    auto traced = function(body, {.name = "traced"});
    try {
      traced(rows_of_vectors());
    } catch (const TraceError& error) {
      return error.what();
    }
    return "not refused";
  };
  EXPECT_NE(refused([](Tensor x) { return from_padded(ones({3, 5}), row_lengths(x)); })
                .find("from_padded: the number of elements of the result is known by its data only; expected a call outside a traced "
                      "function. Inside one, segment::from_padded(x, splits, total)"),
            std::string::npos);
  EXPECT_NE(refused([](Tensor x) { return slice(x, {{}, {1, std::nullopt}}); }).find("slice(to_padded(x, {.length = n}), ...)"),
            std::string::npos);
  EXPECT_NE(
      refused([](Tensor x) { return pad_sequences(x); })
          .find("pad_sequences: the rows of f64[a0, (a1), a2] have no lengths inside a traced function; expected a call outside. Inside "
                "one use to_padded(x, {.value = ..., .length = ...})."),
      std::string::npos);
}

TEST(RaggedAxes, a_carried_value_that_grows_says_which_and_what_to_do) {
  auto grows =
      function([](Tensor x) { return while_loop([](Tensor y) { return sum(y) < 100.0f; }, [](Tensor y) { return concat({y, y}); }, x); },
               {.name = "grows"});
  try {
    grows(ones({3}));
    ADD_FAILURE() << "not refused";
  } catch (const ShapeError& error) {
    EXPECT_NE(std::string(error.what()).find("while_loop: carried value 0 is f32[a0] before an iteration and f32[2 * a0] after it"),
              std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("A value that grows is kept in a tensor of its greatest size"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace anyshape::test
