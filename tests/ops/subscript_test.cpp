// x[index], x.at(...) and updated(x, ...): indices, ranges, tensors, several axes; traced, differentiated, ragged, and refused.
#include "autodiff/finite_differences.h"
#include "ops/expect_error.h"
#include "ops/expect_traced.h"

#include <anyshape/anyshape.h>

namespace anyshape {
namespace {

using Floats = std::vector<float>;

Tensor counting(const Shape& shape, Dtype dtype = f32) { return reshape(arange(shape.count(), {.dtype = dtype}), shape); }
Floats numbers(const Tensor& x) { return x.to_vector<float>(); }
bool has_shape(const Tensor& x, const Shape& shape) { return x.shape().same_as(shape); }

TEST(Subscript, an_index_takes_the_axis_away) {
  const Tensor x = counting({3, 2});
  EXPECT_EQ(numbers(x[0]), (Floats{0, 1}));
  EXPECT_EQ(numbers(x[-1]), (Floats{4, 5}));
  EXPECT_EQ(numbers(x[Dim(1)]), (Floats{2, 3}));
  EXPECT_EQ(numbers(x[size_t{2}]), (Floats{4, 5}));
  EXPECT_EQ(x[1][1].item<float>(), 3);
  EXPECT_TRUE(has_shape(x[0][0], {}));
}

TEST(Subscript, a_range_is_as_in_numpy) {
  const Tensor x = counting({6});
  EXPECT_EQ(numbers(x[{1, -1}]), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(numbers(x[{4, {}}]), (Floats{4, 5}));
  EXPECT_EQ(numbers(x[{{}, 2}]), (Floats{0, 1}));
  EXPECT_EQ(numbers(x[{{}, {}, -2}]), (Floats{5, 3, 1}));
  EXPECT_EQ(numbers(x[{1, 6, 2}]), (Floats{1, 3, 5}));
  EXPECT_EQ(numbers(x[{-2, 100}]), (Floats{4, 5})) << "bounds outside move to the end";
  EXPECT_EQ(numbers(x[{4, 2}]), Floats{});
  EXPECT_EQ(numbers(x[{}]), numbers(x));
  EXPECT_EQ(numbers(x[whole]), numbers(x));
}

TEST(Subscript, shares_the_memory) {
  const Tensor x = counting({4, 3});
  const Tensor part = x[{1, 3}], row = x[2];
  EXPECT_EQ(part.data<float>().data(), x.data<float>().data() + 3);
  EXPECT_EQ(row.data<float>().data(), x.data<float>().data() + 6);
}

TEST(Subscript, several_axes_at_once) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_EQ(numbers(x.at(1, 2)), (Floats{20, 21, 22, 23}));
  EXPECT_EQ(numbers(x.at(0, whole, {1, -1})), (Floats{1, 2, 5, 6, 9, 10}));
  EXPECT_EQ(numbers(x.at({}, 0, {{}, 1})), (Floats{0, 12}));
  EXPECT_TRUE(has_shape(x.at({}, 0, {{}, 1}), {2, 1}));
  EXPECT_EQ(numbers(x.at(ellipsis, 0)), (Floats{0, 4, 8, 12, 16, 20}));
  EXPECT_EQ(numbers(x.at(1, ellipsis, -1)), (Floats{15, 19, 23}));
  EXPECT_EQ(x.at(1, 2, 3).item<float>(), 23);
  const Tensor deep = counting({1, 2, 1, 2, 1, 2});
  EXPECT_EQ(numbers(deep.at(0, 1, 0, 1, 0, 1)), (Floats{7}));
  EXPECT_TRUE(has_shape(deep.at(0, whole, 0, whole, 0), {2, 2, 2}));
}

TEST(Subscript, tensors_take_and_masks_choose) {
  const Tensor x = counting({3, 4});
  EXPECT_EQ(numbers(x[tensor({2, -3})]), (Floats{8, 9, 10, 11, 0, 1, 2, 3}));
  EXPECT_EQ(numbers(x.at({1, {}}, tensor({0, 3}))), (Floats{4, 7, 8, 11}));
  EXPECT_EQ(numbers(x.at(1, tensor({{0, 3}}))), (Floats{4, 7}));
  EXPECT_EQ(numbers(x[x > 9]), (Floats{10, 11}));
  EXPECT_EQ(numbers(x[tensor({false, true, false})]), (Floats{4, 5, 6, 7}));
}

TEST(Subscript, one_trace_serves_every_size) {
  const auto rows = [](const std::vector<Tensor>& in) {
    const Tensor& x = in[0];
    return concat({x[{1, -1}], x[{x.shape()[0] / 2, {}}], x[{{}, {}, -1}], expand_dims(x[0], 0), expand_dims(x[-1], 0),
                   expand_dims(x[x.shape()[0] / 2], 0)});
  };
  expect_traced_as_eager(rows, {{counting({5, 2})}, {counting({2, 2})}, {counting({9, 4})}});
  const auto columns = [](const std::vector<Tensor>& in) { return in[0].at(whole, -1) * in[0].at(ellipsis, {0, 1}).at({}, 0); };
  expect_traced_as_eager(columns, {{counting({5, 2})}, {counting({1, 1})}, {counting({0, 3})}});
}

TEST(Subscript, a_trace_refuses_sizes_that_an_index_does_not_fit) {
  auto third = function([](Tensor x) { return x[2]; }, {.name = "third", .signature = {spec(f32, {dim("n"), 2}, "x")}});
  EXPECT_EQ(numbers(third(counting({4, 2}))), (Floats{4, 5}));
  try {
    third(counting({2, 2}));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("operator[]: index 2 along axis 0 is outside"), std::string::npos) << text;
    EXPECT_NE(text.find("expected 0 <= index < the axis's size"), std::string::npos) << text;
  }
  EXPECT_EQ(third.stats().traces, 1);
}

TEST(Subscript, has_gradients) {
  check_gradients([](const std::vector<Tensor>& in) { return in[0][1] * in[0].at(-1, {}); }, {sample({3, 2}, 1)});
  check_gradients([](const std::vector<Tensor>& in) { return in[0].at({1, {}}, 0) * in[0].at({{}, -1}, -1); }, {sample({3, 2}, 2)});
  check_gradients([](const std::vector<Tensor>& in) { return in[0][tensor({0, 2, 0})] * in[0][{{}, {}, -1}]; }, {sample({3, 2}, 3)});
}

TEST(Subscript, takes_ragged_rows_and_what_is_in_them) {
  const Tensor x = ragged({{1, 2, 3}, {4, 5}, {6, 7, 8, 9}});
  const auto same = [](const Tensor& a, const Tensor& b) { return all_equal(a, b); };
  EXPECT_TRUE(same(x[1], tensor({4, 5})));
  EXPECT_TRUE(same(x[-1], tensor({6, 7, 8, 9})));
  EXPECT_TRUE(same(x.at(0, -1), tensor(std::vector<int32_t>{3}, Shape{})));
  EXPECT_TRUE(same(x.at(2, {1, -1}), tensor({7, 8})));
  EXPECT_TRUE(same(x[{1, {}}], ragged({{4, 5}, {6, 7, 8, 9}})));
  EXPECT_TRUE(same(x.at(whole, {1, {}}), ragged({{2, 3}, {5}, {7, 8, 9}})));
  EXPECT_TRUE(same(x.at(whole, 1), tensor({2, 5, 7})));
  EXPECT_TRUE(same(x.at(whole, -1), tensor({3, 5, 9})));
  EXPECT_TRUE(same(x[tensor({2, 0})], ragged({{6, 7, 8, 9}, {1, 2, 3}})));
  const Tensor pairs = ragged_from_lengths(counting({3, 2}, i32), tensor({1, 2}));
  EXPECT_TRUE(same(pairs.at(ellipsis, 1), ragged({{1}, {3, 5}})));
  EXPECT_TRUE(same(pairs.at(1, whole, 0), tensor({2, 4})));
  expect_error<ShapeError>([&] { x[3]; }, "operator[]: row 3 of i32[3, (2..4)]; expected -3 <= row < 3.");
  expect_error<ShapeError>(
      [&] { x.at(whole, 2); },
      "at: index 2 along axis 1 is outside of a row: x is i32[3, (2..4)]; expected -2 <= index < 2, as the shortest row has it.");
}

TEST(Subscript, ragged_rows_are_sliced_in_one_trace) {
  auto last = function([](Tensor x) { return x.at(whole, -1); }, {.name = "last"});
  EXPECT_EQ(numbers(last(ragged({{1.F, 2.F}, {3.F}}))), (Floats{2, 3}));
  EXPECT_EQ(numbers(last(ragged({{1.F}, {2.F, 3.F, 4.F}, {5.F, 6.F}}))), (Floats{1, 4, 6}));
  EXPECT_THROW(last(ragged(std::vector<std::vector<float>>{{1.F}, {}})), DataError) << "a row without a last element";
  EXPECT_EQ(last.stats().traces, 1);
}

TEST(Subscript, refuses_what_does_not_fit) {
  const Tensor x = ones({3, 4});
  expect_error<ShapeError>([&] { x[3]; }, "operator[]: index 3 along axis 0 is outside: x is f32[3, 4]; expected -3 <= index < 3.");
  expect_error<ShapeError>([&] { x.at(0, -5); }, "at: index -5 along axis 1 is outside: x is f32[3, 4]; expected -4 <= index < 4.");
  expect_error<ShapeError>([] { zeros({0, 2})[0]; },
                           "operator[]: index 0 along axis 0 is outside: x is f32[0, 2]; expected an axis with elements.");
  expect_error<ShapeError>([&] { x.at(0, 0, 0); }, "at: 3 indices for 2 axes: x is f32[3, 4]; expected at most one index per axis.");
  expect_error<ShapeError>([] { ones({})[0]; }, "operator[]: 1 indices for 0 axes: x is f32[]; expected at most one index per axis.");
  expect_error<ShapeError>([&] { x[{0, 2, 0}]; }, "operator[]: the step along axis 0 is 0: x is f32[3, 4]; expected a step other than 0.");
  expect_error<ArgumentError>([&] { x.at(ellipsis, ellipsis); },
                              "at: two ellipses among the indices: x is f32[3, 4]; expected at most one.");
  expect_error<ArgumentError>(
      [&] { x.at(tensor({0}), tensor({0})); },
      "at: two tensors among the indices: x is f32[3, 4]; expected at most one. Use gather_nd for indices along several "
      "axes.");
  expect_error<ArgumentError>([&] { x.at(tensor({true, false, true}), 0); },
                              "at: a mask beside other indices: x is f32[3, 4]; expected a mask alone: x[mask]. Use boolean_mask first.");
  expect_error<DataError>([&] { x[tensor({3})]; }, "take: index 3 at position 0 is out of range; expected -3 <= index < 3.");
  EXPECT_THROW(Tensor()[0], ArgumentError);
}

TEST(Updated, replaces_a_part) {
  const Tensor x = zeros({3, 4});
  EXPECT_EQ(numbers(updated(x, 1, 7)), (Floats{0, 0, 0, 0, 7, 7, 7, 7, 0, 0, 0, 0}));
  EXPECT_EQ(numbers(updated(x, -1, tensor({1.F, 2.F, 3.F, 4.F}))), (Floats{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}));
  EXPECT_EQ(numbers(updated(x, {1, {}}, counting({2, 4}) + 1)), (Floats{0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(numbers(updated(x, at(whole, 0), tensor({1.F, 2.F, 3.F}))), (Floats{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}));
  EXPECT_EQ(numbers(updated(x, at({{}, 2}, {1, -1}), counting({2, 2}) + 1)), (Floats{0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0}));
  EXPECT_EQ(numbers(updated(x, at(ellipsis, {{}, {}, 2}), tensor({5.F, 6.F}))), (Floats{5, 0, 6, 0, 5, 0, 6, 0, 5, 0, 6, 0}));
  EXPECT_EQ(numbers(updated(x, at(2, {{}, {}, -1}), tensor({1.F, 2.F, 3.F, 4.F}))), (Floats{0, 0, 0, 0, 0, 0, 0, 0, 4, 3, 2, 1}));
  EXPECT_EQ(numbers(updated(x, at(0, 0), 3)), (Floats{3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(numbers(updated(x, {2, 2}, 9)), numbers(x)) << "nothing";
  EXPECT_EQ(numbers(updated(x, whole, 2)), Floats(12, 2));
  EXPECT_EQ(numbers(x), Floats(12, 0)) << "x itself stays";
}

TEST(Updated, keeps_the_dtype) {
  EXPECT_EQ(updated(zeros({2}, {.dtype = f64}), 0, tensor(std::vector<float>{1}, Shape{})).dtype(), f64);
  EXPECT_EQ(updated(zeros({2}, {.dtype = i32}), 0, 1).dtype(), i32);
  EXPECT_EQ(updated(tensor({true, false}), 1, true).to_vector<bool>(), (std::vector<bool>{true, true}));
  expect_error<DtypeError>([] { updated(zeros({2}, {.dtype = i32}), 0, 0.5); },
                           "updated: the value is f32: a is i32[2], b is f32[]; expected i32 or what becomes it. Use cast(value, i32).");
}

TEST(Updated, one_trace_serves_every_size) {
  const auto f = [](const std::vector<Tensor>& in) {
    const Tensor &x = in[0], &value = in[1];
    return updated(updated(x, {1, -1}, value), at(x.shape()[0] / 2, {{}, {}, 2}), 9);
  };
  expect_traced_as_eager(f, {{counting({5, 3}), ones({3, 3})}, {counting({4, 2}), ones({2, 2})}, {counting({9, 6}), ones({7, 6})}});
}

TEST(Updated, has_gradients_to_both) {
  check_gradients([](const std::vector<Tensor>& in) { return updated(in[0], {1, {}}, in[1]) * in[0]; },
                  {sample({3, 2}, 1), sample({2, 2}, 2)});
  check_gradients([](const std::vector<Tensor>& in) { return updated(in[0], at({{}, {}, -2}, 1), in[1]); },
                  {sample({3, 2}, 1), sample({2}, 2)});
  check_gradients([](const std::vector<Tensor>& in) { return updated(in[0], at(1, whole), in[1]); }, {sample({3, 2}, 1), sample({}, 2)});
}

TEST(Updated, refuses_what_does_not_fit) {
  const Tensor x = ones({3, 4});
  expect_error<ShapeError>([&] { updated(x, 3, 0); },
                           "updated: index 3 along axis 0 is outside: a is f32[3, 4], b is i32[]; expected -3 <= index < 3.");
  EXPECT_THROW(updated(x, {0, 2}, ones({3})), ShapeError);
  expect_error<ArgumentError>(
      [&] { updated(x, tensor({0}), 1); },
      "updated: a tensor among the indices: a is f32[3, 4], b is i32[]; expected numbers and ranges. Use scatter_add for "
      "indices that are data, or where(mask, value, x).");
  expect_error<ShapeError>(
      [] { updated(ragged({{1, 2}, {3}}), 0, 1); },
      "updated: a ragged tensor: a is i32[2, (1..2)], b is i32[]; expected dense ones. Update the elements of all rows: "
      "with_rows_of(updated(x.values(), ...), x).");
}

TEST(RowMajor, copies_only_views_by_other_strides) {
  const Tensor x = counting({2, 3}), y = transpose(x);
  EXPECT_EQ(row_major(x).impl(), x.impl());
  const Tensor copy = row_major(y);
  EXPECT_EQ(copy.strides(), (std::vector<int64_t>{2, 1}));
  EXPECT_TRUE(all_equal(copy, y));
  check_gradients([](const std::vector<Tensor>& in) { return row_major(transpose(in[0])) * 2; }, {sample({2, 3}, 1)});
  expect_traced_as_eager([](const std::vector<Tensor>& in) { return row_major(transpose(in[0])) + 1; }, {{x}, {counting({4, 5})}});
}

TEST(InPlaceOperators, give_the_handle_the_result) {
  Tensor x = tensor({1.F, 2.F});
  const Tensor before = x;
  x += 1;
  x *= x;
  x -= tensor({4.F, 4.F});
  x /= 2;
  EXPECT_EQ(numbers(x), (Floats{0, 2.5}));
  EXPECT_EQ(numbers(before), (Floats{1, 2})) << "another handle keeps its value";
  Tensor count = tensor({1, 2});
  EXPECT_EQ((count /= 2).dtype(), f32) << "the op's own dtype";
  expect_traced_as_eager(
      [](const std::vector<Tensor>& in) {
        Tensor y = in[0];
        for (int i = 0; i < 3; ++i) y += in[1];
        return y;
      },
      {{ones({2}), ones({2})}, {ones({5}), ones({5})}});
}

TEST(Data, is_not_known_inside_a_trace) {
  auto f = function([](Tensor x) { return x + x.data<float>()[0]; }, {.name = "f"});
  expect_error<TraceError>(
      [&] { f(ones({2})); },
      "data: the values of f32[a0] are not known inside a traced function; expected a tensor outside a trace. Compute with "
      "tensors (where, cond, while_loop), or return it and read it from the result.");
}

}  // namespace
}  // namespace anyshape
