// Views as inputs of every kind of op: transposed, stepped, backward, repeated and offset ones give what their row-major copies give, and
// elementwise kernels read them where they are.
#include "tensor/view.h"

#include <anyshape/anyshape.h>
#include <anyshape/random.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

struct NamedView {
  std::string name;
  Tensor tensor;
};

// Views of shape [5, 4] with different values, one of every kind.
std::vector<NamedView> views(Dtype dtype) {
  const auto numbers = [&](const Shape& shape) { return cast(reshape(arange(shape.count(), {.dtype = f64}), shape) * 0.37 - 3.0, dtype); };
  return {{"row-major", numbers({5, 4})},
          {"transposed", transpose(numbers({4, 5}))},
          {"stepped rows", slice(numbers({10, 4}), {{.begin = 1, .step = 2}})},
          {"stepped columns", slice(numbers({5, 12}), {{}, {.begin = 2, .step = 3}})},
          {"backward", flip(numbers({5, 4}))},
          {"backward columns", flip(numbers({5, 4}), {1})},
          {"backward rows in steps", slice(numbers({9, 4}), {{.step = -2}})},
          {"offset", slice(numbers({7, 9}), {{1, 6}, {3, 7}})},
          {"repeated row", broadcast_to(numbers({4}), {5, 4})},
          {"repeated column", broadcast_to(numbers({5, 1}), {5, 4})},
          {"one element", broadcast_to(slice(numbers({6}), {{3, 4}}), {5, 4})},
          {"transposed, backward and in steps", flip(transpose(slice(numbers({8, 5}), {{.begin = 1, .step = 2}})), {0})}};
}

Tensor copy_of(const Tensor& view) {
  return view.dtype() == f32   ? tensor(view.to_vector<float>(), view.shape())
         : view.dtype() == f64 ? tensor(view.to_vector<double>(), view.shape())
                               : tensor(view.to_vector<int32_t>(), view.shape());
}

using Op = std::function<Tensor(const Tensor&, const Tensor&)>;

// A library's product rounds otherwise for a transposed matrix than for its copy.
void expect_close_to_copies(const std::string& name, const Op& op) {
  for (const NamedView& a : views(f32)) {
    for (const NamedView& b : views(f32)) {
      EXPECT_TRUE(all_close(op(a.tensor, b.tensor), op(copy_of(a.tensor), copy_of(b.tensor)), {.relative = 1e-5, .absolute = 1e-5}))
          << name << ": " << a.name << ", " << b.name;
    }
  }
}

void expect_as_copies(const std::string& name, const Op& op, Dtype dtype = f32) {
  for (const NamedView& a : views(dtype)) {
    for (const NamedView& b : views(dtype)) {
      EXPECT_TRUE(all_equal(op(a.tensor, b.tensor), op(copy_of(a.tensor), copy_of(b.tensor)))) << name << ": " << a.name << ", " << b.name;
    }
  }
}

TEST(Views, share_memory) {
  const Tensor x = ones({6, 4});
  for (const Tensor& view : {transpose(x), slice(x, {{1, 3}}), slice(x, {{.step = -2}}), flip(x), broadcast_to(x, {2, 6, 4}),
                             expand_dims(x, 1), squeeze(expand_dims(x, 0)), reshape(x, {3, 8}), split(x, 2)[1], unstack(x)[3]}) {
    EXPECT_EQ(view.impl()->buffer(), x.impl()->buffer());
  }
  EXPECT_NE(reshape(transpose(x), {24}).impl()->buffer(), x.impl()->buffer()) << "no strides say this";
}

TEST(Views, enter_elementwise_ops) {
  for (const Dtype dtype : {f32, f64, i32}) {
    expect_as_copies("add", [](const Tensor& a, const Tensor& b) { return a + b; }, dtype);
    expect_as_copies("less", [](const Tensor& a, const Tensor& b) { return cast(a < b, i32); }, dtype);
    expect_as_copies("where", [](const Tensor& a, const Tensor& b) { return where(a > b, b, a); }, dtype);
  }
  expect_as_copies("tanh", [](const Tensor& a, const Tensor&) { return tanh(a); });
  expect_as_copies("cast", [](const Tensor& a, const Tensor&) { return cast(a, i32); });
  expect_as_copies("row", [](const Tensor& a, const Tensor& b) { return a * slice(b, {{2, 3}}); });
  expect_as_copies("column", [](const Tensor& a, const Tensor& b) { return a * slice(b, {{}, {1, 2}}); });
  expect_as_copies("new axes", [](const Tensor& a, const Tensor& b) { return expand_dims(a, 1) - expand_dims(b, 0); });
  expect_as_copies("halves",
                   [](const Tensor& a, const Tensor& b) { return slice(a, {{}, {.step = 2}}) + slice(b, {{}, {.begin = 1, .step = 2}}); });
  expect_as_copies("nothing", [](const Tensor& a, const Tensor& b) { return slice(a, {{3, 1}}) + slice(b, {{1, 1}}); });
}

TEST(Views, enter_the_other_kinds_of_ops) {
  expect_as_copies("sum", [](const Tensor& a, const Tensor&) { return sum(a, {.axes = {0}}); });
  expect_as_copies("max", [](const Tensor& a, const Tensor&) { return max(a, {.axes = {1}}); });
  expect_as_copies("softmax", [](const Tensor& a, const Tensor&) { return softmax(a); });
  expect_close_to_copies("matmul", [](const Tensor& a, const Tensor& b) { return matmul(a, b, {.transpose_b = true}); });
  expect_close_to_copies("matmul of a transposed view", [](const Tensor& a, const Tensor& b) { return matmul(transpose(a), b); });
  expect_as_copies("concat", [](const Tensor& a, const Tensor& b) { return concat({a, b}, {.axis = 1}); });
  expect_as_copies("stack", [](const Tensor& a, const Tensor& b) { return stack({a, b}, {.axis = 1}); });
  expect_as_copies("pad", [](const Tensor& a, const Tensor&) { return pad(a, {{1, 0}, {0, 1}}); });
  expect_as_copies("reshape", [](const Tensor& a, const Tensor&) { return reshape(a, {2, 10}); });
  expect_as_copies("tile", [](const Tensor& a, const Tensor&) { return tile(a, {2, 2}); });
  expect_as_copies("diag", [](const Tensor& a, const Tensor&) { return diag(a, {.offset = 1}); });
  expect_as_copies("take", [](const Tensor& a, const Tensor& b) { return take(a, cast(b, i32) * 0 + 1); });
  expect_as_copies("sum_to", [](const Tensor& a, const Tensor&) { return sum_to(a, {1, 4}); });
}

// How many row-major copies of inputs a call makes.
int64_t copies_of(const std::function<void()>& call) {
  const int64_t before = copies_made();
  call();
  return copies_made() - before;
}

TEST(Views, are_reduced_where_they_are) {
  const Tensor x = random::normal({40, 30}), image = random::normal({6, 7, 8});
  EXPECT_EQ(copies_of([&] { sum(transpose(x), {.axes = {0}}); }), 0);
  EXPECT_EQ(copies_of([&] { sum(transpose(x), {.axes = {1}}); }), 0);
  EXPECT_EQ(copies_of([&] { max(slice(x, {{}, {.begin = 1, .step = 3}}), {.axes = {1}}); }), 0);
  EXPECT_EQ(copies_of([&] { prod(flip(x), {.axes = {0}}); }), 0);
  EXPECT_EQ(copies_of([&] { sum(broadcast_to(slice(x, {{}, {2, 3}}), {40, 50}), {.axes = {1}}); }), 0);
  EXPECT_EQ(copies_of([&] { sum(slice(x, {{.step = 2}})); }), 1) << "rows apart are not one run of elements";
  EXPECT_EQ(copies_of([&] { sum(transpose(image, {1, 0, 2}), {.axes = {1}, .keep_dims = true}); }), 0);
  EXPECT_EQ(copies_of([&] { sum(transpose(image, {2, 0, 1}), {.axes = {1, 2}}); }), 0) << "axes 1 and 2 lie as one";
  EXPECT_EQ(copies_of([&] { sum(transpose(image, {2, 1, 0}), {.axes = {1, 2}}); }), 1);
  EXPECT_EQ(copies_of([&] { all(expand_dims(transpose(x) > 0, 1), {.axes = {1, 2}}); }), 0);
}

TEST(Views, are_multiplied_where_they_are) {
  for (const Dtype dtype : {f32, f64, i32}) {
    const auto numbers = [&](const Shape& shape) { return cast(random::normal(shape) * 3, dtype); };
    const Tensor a = numbers({20, 30}), b = numbers({30, 10}), heads = numbers({4, 9, 3, 8}), one = numbers({1, 30, 10});
    const auto expect_in_place = [&](const Tensor& left, const Tensor& right, const std::string& which) {
      Tensor product;
      EXPECT_EQ(copies_of([&] { product = matmul(left, right); }), 0) << which;
      EXPECT_TRUE(all_close(cast(product, f64), matmul(cast(contiguous(left), f64), cast(contiguous(right), f64)),
                            {.relative = 1e-4, .absolute = 1e-4}))
          << which;
    };
    expect_in_place(transpose(numbers({30, 20})), b, "transposed a");
    expect_in_place(a, transpose(numbers({10, 30})), "transposed b");
    expect_in_place(transpose(numbers({30, 20})), transpose(numbers({10, 30})), "both");
    expect_in_place(slice(numbers({20, 50}), {{}, {7, 37}}), b, "columns of a");
    expect_in_place(a, slice(numbers({60, 25}), {{.step = 2}, {3, 13}}), "every second row of b");
    expect_in_place(transpose(slice(numbers({30, 50}), {{}, {7, 27}})), b, "columns of a, transposed");
    expect_in_place(transpose(heads, {0, 2, 1, 3}), transpose(heads, {0, 2, 3, 1}), "heads");
    expect_in_place(broadcast_to(a, {5, 20, 30}), broadcast_to(one, {5, 30, 10}), "repeated matrices");
    EXPECT_EQ(copies_of([&] { matmul(flip(a), b); }), 1) << "backward rows";
    EXPECT_EQ(copies_of([&] { matmul(broadcast_to(slice(a, {{0, 1}}), {20, 30}), b); }), 1) << "one row again and again";
  }
}

TEST(Views, are_taken_from_where_they_are) {
  const Tensor x = random::normal({40, 30});
  EXPECT_EQ(copies_of([&] { take(transpose(x), tensor({1, 0, 5})); }), 0);
  EXPECT_EQ(copies_of([&] { gather_nd(flip(x), tensor({{1, 2}, {0, 3}})); }), 0);
  EXPECT_EQ(copies_of([&] { take(x, slice(tensor({1, 0, 5, 2}), {{.step = 2}})); }), 1) << "indices are looked through first";
}

TEST(Views, enter_functions_variables_and_gradients) {
  auto product = function([](Tensor a, Tensor b) { return a * b + 1; });
  expect_as_copies("function", [&](const Tensor& a, const Tensor& b) { return product(a, b); });
  expect_as_copies("variable", [](const Tensor& a, const Tensor& b) {
    const Variable variable(a);
    variable.assign(b);
    return variable.read() + a;
  });
  expect_as_copies("captured", [](const Tensor& a, const Tensor& b) {
    auto captured = function([&](Tensor x) { return x + b; }, {.retrace = Retrace::Allow});
    return captured(a);
  });
  for (const NamedView& view : views(f32)) {
    GradientTape tape;
    tape.watch(view.tensor);
    EXPECT_TRUE(all_equal(tape.gradient(view.tensor * view.tensor, view.tensor), 2 * copy_of(view.tensor))) << view.name;
  }
}

TEST(Views, of_large_tensors_are_read_by_many_tasks) {
  const Tensor x = reshape(arange(600 * 700, {.dtype = f32}), {600, 700});
  for (const Tensor& view : {transpose(x), slice(x, {{.step = -1}, {.begin = 1, .step = 2}}), flip(x, {1}), slice(x, {{3, 500}, {5, 600}}),
                             broadcast_to(slice(x, {{7, 8}}), {600, 700})}) {
    EXPECT_TRUE(all_equal(view + 1, copy_of(view) + 1));
    EXPECT_TRUE(all_equal(view * slice(view, {{}, {2, 3}}), copy_of(view) * copy_of(slice(view, {{}, {2, 3}}))));
  }
}

}  // namespace
}  // namespace anyshape::test
