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
    EXPECT_EQ(view.impl()->buffer, x.impl()->buffer);
  }
  EXPECT_NE(reshape(transpose(x), {24}).impl()->buffer, x.impl()->buffer) << "no strides say this";
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
  expect_as_copies("matmul", [](const Tensor& a, const Tensor& b) { return matmul(a, b, {.transpose_b = true}); });
  expect_as_copies("matmul of a transposed view", [](const Tensor& a, const Tensor& b) { return matmul(transpose(a), b); });
  expect_as_copies("concat", [](const Tensor& a, const Tensor& b) { return concat({a, b}, {.axis = 1}); });
  expect_as_copies("stack", [](const Tensor& a, const Tensor& b) { return stack({a, b}, {.axis = 1}); });
  expect_as_copies("pad", [](const Tensor& a, const Tensor&) { return pad(a, {{1, 0}, {0, 1}}); });
  expect_as_copies("reshape", [](const Tensor& a, const Tensor&) { return reshape(a, {2, 10}); });
  expect_as_copies("tile", [](const Tensor& a, const Tensor&) { return tile(a, {2, 2}); });
  expect_as_copies("diag", [](const Tensor& a, const Tensor&) { return diag(a, {.offset = 1}); });
  expect_as_copies("take", [](const Tensor& a, const Tensor& b) { return take(a, cast(b, i32) * 0 + 1); });
  expect_as_copies("sum_to", [](const Tensor& a, const Tensor&) { return sum_to(a, {1, 4}); });
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
