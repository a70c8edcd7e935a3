// The gradient of every differentiable op against finite differences, over plain, broadcast and odd shapes; the second order of some.
#include "autodiff/finite_differences.h"

namespace anyshape {
namespace {

const std::vector<Shape> shapes = {{}, {5}, {2, 3}, {2, 1, 3}};
const std::vector<std::pair<Shape, Shape>> pairs = {{{3}, {3}}, {{2, 3}, {3}}, {{2, 1}, {1, 3}}, {{}, {2, 2}}, {{1}, {4}}};

TEST(OpGradients, unary_ops) {
  for (const Shape& shape : shapes) {
    const std::vector<Tensor> x = {sample(shape, 1)};
    check_gradients([](const auto& in) { return -in[0]; }, x);
    check_gradients([](const auto& in) { return exp(in[0]); }, x);
    check_gradients([](const auto& in) { return log(in[0]); }, x);
    check_gradients([](const auto& in) { return tanh(in[0]); }, x);
    check_gradients([](const auto& in) { return relu(in[0] - 1.0); }, x);
    check_gradients([](const auto& in) { return cast(cast(in[0], f64), f64) * 2; }, x);
  }
}

TEST(OpGradients, binary_ops) {
  for (const auto& [a, b] : pairs) {
    const std::vector<Tensor> in = {sample(a, 1), sample(b, 2)};
    check_gradients([](const auto& x) { return x[0] + x[1]; }, in);
    check_gradients([](const auto& x) { return x[0] - x[1]; }, in);
    check_gradients([](const auto& x) { return x[0] * x[1]; }, in);
    check_gradients([](const auto& x) { return x[0] / x[1]; }, in);
    check_gradients([](const auto& x) { return maximum(x[0], x[1]); }, in);
    check_gradients([](const auto& x) { return where(x[0] > 0.9, x[0], x[1]); }, in);
  }
}

TEST(OpGradients, reductions) {
  for (const Shape& shape : {Shape{5}, Shape{2, 3}, Shape{2, 3, 2}}) {
    const std::vector<Tensor> x = {sample(shape, 3)};
    for (const ReduceOptions& options : {ReduceOptions{}, ReduceOptions{.axes = {0}}, ReduceOptions{.axes = {-1}, .keep_dims = true}}) {
      check_gradients([&](const auto& in) { return sum(in[0], options); }, x);
      check_gradients([&](const auto& in) { return max(in[0], options); }, x);
      check_gradients([&](const auto& in) { return mean(in[0], options); }, x);
    }
    check_gradients([](const auto& in) { return softmax(in[0]); }, x);
    check_gradients([](const auto& in) { return softmax(in[0], {.axis = 0}); }, x);
    check_gradients([](const auto& in) { return log_softmax(in[0]); }, x);
    check_gradients([](const auto& in) { return sum_to(in[0], {1}); }, x);
  }
  check_gradients([](const auto& in) { return sum_to(in[0], {1, 3}); }, {sample({2, 2, 3}, 1)});
}

TEST(OpGradients, products) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const MatmulOptions options{.transpose_a = ta, .transpose_b = tb};
      const auto f = [&](const std::vector<Tensor>& x) { return matmul(x[0], x[1], options); };
      const Shape a = ta ? Shape{4, 2} : Shape{2, 4}, b = tb ? Shape{3, 4} : Shape{4, 3};
      check_gradients(f, {sample(a, 1), sample(b, 2)});
      check_gradients(f, {sample({2, a[0], a[1]}, 1), sample(b, 2)});
      check_gradients(f, {sample(a, 1), sample({2, b[0], b[1]}, 2)});
      check_gradients(f, {sample({2, 1, a[0], a[1]}, 1), sample({3, b[0], b[1]}, 2)});
    }
  }
  check_gradients([](const auto& x) { return matmul(x[0], x[1]); }, {sample({3}, 1), sample({3, 2}, 2)});
  check_gradients([](const auto& x) { return matmul(x[0], x[1]); }, {sample({2, 3}, 1), sample({3}, 2)});
}

TEST(OpGradients, movement) {
  const std::vector<Tensor> x = {sample({2, 3, 2}, 1)};
  check_gradients([](const auto& in) { return reshape(in[0], {4, -1}); }, x);
  check_gradients([](const auto& in) { return transpose(in[0], {2, 0, 1}); }, x);
  check_gradients([](const auto& in) { return transpose(in[0]); }, x);
  check_gradients([](const auto& in) { return broadcast_to(in[0], {2, 2, 3, 2}); }, x);
  check_gradients([](const auto& in) { return broadcast_to(in[0], {3, 4}); }, {sample({3, 1}, 1)});
  check_gradients([](const auto& in) { return slice(in[0], {{1}, {0, 2}}); }, x);
  check_gradients([](const auto& in) { return slice(in[0], {{2}}); }, x);
  check_gradients([](const auto& in) { return slice(in[0], {{0, 2}, {-2}, {1, 2}}); }, x);
  check_gradients([](const auto& in) { return concat({in[0], in[1], in[0]}, {.axis = 1}); }, {sample({2, 3}, 1), sample({2, 1}, 2)});
  check_gradients([](const auto& in) { return concat({in[0], in[1]}); }, {sample({2, 3}, 1), sample({0, 3}, 2)});
  check_gradients([](const auto& in) { return full({2, 3}, in[0]); }, {sample({}, 1)});
}

TEST(OpGradients, take_adds_up_what_was_taken_twice) {
  for (const int64_t axis : {0, 1, -1}) {
    check_gradients([&](const auto& in) { return take(in[0], tensor({{1, 0}, {-1, 1}}), {.axis = axis}); }, {sample({2, 3, 2}, 1)});
  }
  check_gradients([](const auto& in) { return take(in[0], tensor({0, 2, 0})); }, {sample({3}, 1)});
}

TEST(OpGradients, second_order) {
  check_second_order([](const auto& in) { return exp(in[0] * in[1]); }, {sample({2, 3}, 1), sample({3}, 2)});
  check_second_order([](const auto& in) { return tanh(in[0]) / in[1]; }, {sample({3}, 1), sample({3}, 2)});
  check_second_order([](const auto& in) { return log(in[0]); }, {sample({4}, 1)});
  check_second_order([](const auto& in) { return softmax(in[0]); }, {sample({2, 3}, 1)});
  check_second_order([](const auto& in) { return log_softmax(in[0]); }, {sample({2, 3}, 1)});
  check_second_order([](const auto& in) { return matmul(in[0], in[1]); }, {sample({2, 3}, 1), sample({3, 2}, 2)});
  check_second_order([](const auto& in) { return take(in[0], tensor({1, 1, 0})); }, {sample({2, 2}, 1)});
  check_second_order([](const auto& in) { return slice(in[0], {{1, 3}}); }, {sample({4}, 1)});
  check_second_order([](const auto& in) { return concat({in[0], in[1]}); }, {sample({2}, 1), sample({3}, 2)});
  check_second_order([](const auto& in) { return max(in[0] * in[0], {.axes = {1}}); }, {sample({2, 3}, 1)});
  check_second_order([](const auto& in) { return mean(in[0] * in[0] * in[0]); }, {sample({3}, 1)});
}

TEST(OpGradients, conventions_at_ties_and_zero) {
  GradientTape tape({.persistent = true});
  const Tensor a = tensor({1.0F, 2.0F}), b = tensor({1.0F, 3.0F}), zero = tensor({0.0F});
  tape.watch(a), tape.watch(b), tape.watch(zero);
  const Tensor m = maximum(a, b), r = relu(zero), top = max(tensor({1.0F}) * concat({a, a}));
  EXPECT_EQ(tape.gradient(m, a).to_vector<float>(), (std::vector<float>{1, 0})) << "ties: the first argument";
  EXPECT_EQ(tape.gradient(m, b).to_vector<float>(), (std::vector<float>{0, 1}));
  EXPECT_EQ(tape.gradient(r, zero).item<float>(), 0.0F);
  EXPECT_EQ(tape.gradient(top, a).to_vector<float>(), (std::vector<float>{0, 1}))
      << "equal elements share, here both halves come back to one";
}

}  // namespace
}  // namespace anyshape
