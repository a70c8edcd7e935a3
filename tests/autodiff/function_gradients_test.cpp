// Gradients of the functions and activations against finite differences, first and second order, over plain and broadcast shapes.
#include "autodiff/finite_differences.h"

namespace anyshape {
namespace {

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);

TEST(FunctionGradients, of_one_argument) {
  for (const Unary op : {static_cast<Unary>(sqrt), static_cast<Unary>(rsqrt), static_cast<Unary>(abs), static_cast<Unary>(square),
                         static_cast<Unary>(reciprocal), static_cast<Unary>(expm1), static_cast<Unary>(log1p), static_cast<Unary>(sin),
                         static_cast<Unary>(cos), static_cast<Unary>(sinh), static_cast<Unary>(cosh), static_cast<Unary>(atan),
                         static_cast<Unary>(erf), static_cast<Unary>(sigmoid), static_cast<Unary>(softplus)}) {
    const TensorFunction f = [op](const std::vector<Tensor>& in) { return op(in[0]); };
    check_gradients(f, {sample({2, 3}, 1)});
    check_second_order(f, {sample({3}, 2)});
  }
  for (const Unary op : {static_cast<Unary>(asin), static_cast<Unary>(acos), static_cast<Unary>(tan)}) {
    const TensorFunction f = [op](const std::vector<Tensor>& in) { return op(in[0] * 0.5); };
    check_gradients(f, {sample({2, 3}, 1)});
    check_second_order(f, {sample({3}, 2)});
  }
}

TEST(FunctionGradients, of_activations) {
  for (const Unary op : {static_cast<Unary>(relu6), static_cast<Unary>(log_sigmoid), static_cast<Unary>(hard_sigmoid),
                         static_cast<Unary>(silu), static_cast<Unary>(softsign), static_cast<Unary>(mish), static_cast<Unary>(selu),
                         static_cast<Unary>(leaky_relu), static_cast<Unary>(elu), static_cast<Unary>(gelu)}) {
    const TensorFunction f = [op](const std::vector<Tensor>& in) { return op(in[0] - 0.9); };
    check_gradients(f, {sample({2, 3}, 1)});
    check_second_order(f, {sample({3}, 2)});
  }
  check_gradients([](const auto& in) { return gelu(in[0] - 0.9, {.approximate = true}); }, {sample({4}, 1)});
}

TEST(FunctionGradients, of_two_arguments) {
  const std::vector<std::pair<Shape, Shape>> pairs = {{{3}, {3}}, {{2, 3}, {3}}, {{2, 1}, {1, 3}}, {{}, {2, 2}}};
  for (const auto& [a, b] : pairs) {
    for (const Binary op : {static_cast<Binary>(minimum), static_cast<Binary>(pow), static_cast<Binary>(atan2)}) {
      const TensorFunction f = [op](const std::vector<Tensor>& in) { return op(in[0], in[1]); };
      check_gradients(f, {sample(a, 1), sample(b, 2)});
    }
    check_gradients([](const auto& in) { return clip(in[0], 0.6, 1.2); }, {sample(a, 1)});
  }
  check_second_order([](const auto& in) { return pow(in[0], in[1]); }, {sample({3}, 1), sample({3}, 2)});
  check_second_order([](const auto& in) { return atan2(in[0], in[1]); }, {sample({3}, 1), sample({3}, 2)});
  // Away from the jumps: the quotients lie between 2 and 3.
  check_gradients([](const auto& in) { return remainder(in[0] * 0.1 + 2.4, in[1] * 0.01 + 1); }, {sample({3}, 1), sample({3}, 2)});
}

TEST(FunctionGradients, of_steps_are_zero) {
  const Tensor x = sample({3}, 1);
  for (const Unary op : {static_cast<Unary>(floor), static_cast<Unary>(ceil), static_cast<Unary>(trunc), static_cast<Unary>(round),
                         static_cast<Unary>(sign)}) {
    GradientTape tape;
    tape.watch(x);
    EXPECT_EQ(tape.gradient(sum(op(x)), x).to_vector<double>(), (std::vector<double>{0, 0, 0}));
  }
}

TEST(FunctionGradients, of_pow_where_a_formula_would_divide_zero_by_zero) {
  const Tensor base = tensor({0.0, 0.0, 2.0, -2.0}), exponent = tensor({0.0, 2.0, 0.0, 3.0});
  GradientTape tape;
  tape.watch(base);
  tape.watch(exponent);
  const std::vector<Tensor> slopes = tape.gradient(sum(pow(base, exponent)), std::vector<Tensor>{base, exponent});
  EXPECT_EQ(slopes[0].to_vector<double>(), (std::vector<double>{0, 0, 0, 12}));
  const std::vector<double> of_exponent = slopes[1].to_vector<double>();
  EXPECT_EQ(of_exponent[0], 0);
  EXPECT_EQ(of_exponent[1], 0);
  EXPECT_NEAR(of_exponent[2], std::log(2.0), 1e-15);
  EXPECT_EQ(of_exponent[3], 0) << "a negative base has no logarithm";
}

TEST(FunctionGradients, of_logsumexp_is_softmax) {
  for (const ReduceOptions& options : {ReduceOptions{}, ReduceOptions{.axes = {0}}, ReduceOptions{.axes = {-1}, .keep_dims = true}}) {
    check_gradients([&](const auto& in) { return logsumexp(in[0], options); }, {sample({2, 3}, 1)});
  }
  check_second_order([](const auto& in) { return logsumexp(in[0], {.axes = {1}}); }, {sample({2, 3}, 1)});
}

}  // namespace
}  // namespace anyshape
