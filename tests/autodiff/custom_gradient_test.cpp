// custom_gradient: the user's gradient instead of the ops' own, eagerly, in a trace, nested and twice; what it refuses.
#include "autodiff/finite_differences.h"
#include "ops/expect_error.h"

#include <anyshape/anyshape.h>

namespace anyshape {
namespace {

using Floats = std::vector<float>;

std::vector<Tensor> gradients_of(const std::function<Tensor(const Tensor&, const Tensor&)>& f, const Tensor& a, const Tensor& b) {
  GradientTape tape;
  tape.watch(a), tape.watch(b);
  return tape.gradient(f(a, b), {a, b});
}

// log(1 + exp(x)) whose gradient by its ops is NaN for large x.
const auto naive_softplus =
    custom_gradient([](const Tensor& x) { return log(1 + exp(x)); },
                    [](const CustomGradientCall& call) { return call.output_gradients[0] * (1 - 1 / (1 + exp(call.inputs[0]))); });

TEST(CustomGradient, stands_in_for_the_gradient_of_the_ops) {
  const Tensor x = tensor({100.0F, 0.0F});
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(tape.gradient(naive_softplus(x), x).to_vector<float>(), (Floats{1, 0.5F}));
}

TEST(CustomGradient, of_the_right_formula_agrees_with_finite_differences_twice) {
  const TensorFunction f = [](const std::vector<Tensor>& in) { return naive_softplus(in[0] * in[0]); };
  check_gradients(f, {sample({2, 3}, 1)});
  check_second_order(f, {sample({3}, 2)});
}

TEST(CustomGradient, sees_inputs_outputs_and_output_gradients) {
  const auto product = custom_gradient([](Tensor a, Tensor b) { return a * b; },
                                       [](const CustomGradientCall& call) {
                                         EXPECT_EQ(call.inputs.size(), 2U);
                                         EXPECT_EQ(call.outputs[0].item<float>(), 6.0F);
                                         return std::vector<Tensor>{call.output_gradients[0] * call.inputs[1] * 10, Tensor()};
                                       });
  const Tensor a = tensor({2.0F}), b = tensor({3.0F});
  GradientTape tape({.persistent = true});
  tape.watch(a), tape.watch(b);
  const Tensor y = product(a, b) * 4;
  EXPECT_EQ(tape.gradient(y, a).item<float>(), 120.0F);
  EXPECT_THROW(tape.gradient(y, b), ArgumentError) << "nothing flows to b";
  EXPECT_EQ(tape.gradient(y, b, {.unreached = Unreached::Zeros}).item<float>(), 0.0F);
}

TEST(CustomGradient, an_input_that_is_returned_is_a_result_of_its_own) {
  const auto doubled_back =
      custom_gradient([](Tensor x) { return x; }, [](const CustomGradientCall& call) { return call.output_gradients[0] * 2; });
  const Tensor x = tensor({5.0F});
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(tape.gradient(doubled_back(x) + x, x).item<float>(), 3.0F);
}

TEST(CustomGradient, has_several_results) {
  const auto both =
      custom_gradient([](Tensor x) { return std::pair<Tensor, Tensor>(x * 2, x * 3); },
                      [](const CustomGradientCall& call) { return call.output_gradients[0] + call.output_gradients[1] * 100; });
  const Tensor x = tensor({1.0F});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const auto [two, three] = both(x);
  EXPECT_EQ(tape.gradient(two + three, x).item<float>(), 101.0F);
  EXPECT_EQ(tape.gradient(two, x).item<float>(), 1.0F) << "zeros for the result that is not used";
}

TEST(CustomGradient, takes_values_of_any_structure) {
  const auto weighted = custom_gradient(
      [](const std::vector<Tensor>& parts, double factor) { return (parts[0] + parts[1]) * factor; },
      [](const CustomGradientCall& call) { return std::vector<Tensor>{call.output_gradients[0] * 5, call.output_gradients[0] * 6}; });
  const Tensor a = tensor({1.0F}), b = tensor({2.0F});
  GradientTape tape;
  tape.watch(a), tape.watch(b);
  const Tensor y = weighted({a, b}, 10);
  EXPECT_EQ(y.item<float>(), 30.0F);
  const std::vector<Tensor> gradients = tape.gradient(y, {a, b});
  EXPECT_EQ(gradients[0].item<float>(), 5.0F);
  EXPECT_EQ(gradients[1].item<float>(), 6.0F);
}

TEST(CustomGradient, nests) {
  const auto inner =
      custom_gradient([](Tensor x) { return x * x; }, [](const CustomGradientCall& call) { return call.output_gradients[0] * 7; });
  const auto outer = custom_gradient([&](Tensor x) { return inner(x) + 1; },
                                     [&](const CustomGradientCall& call) {
                                       GradientTape tape;  // the gradient of the inner call, doubled
                                       tape.watch(call.inputs[0]);
                                       return tape.gradient(inner(call.inputs[0]), call.inputs[0]) * 2 * call.output_gradients[0];
                                     });
  const Tensor x = tensor({3.0F});
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(tape.gradient(outer(inner(x)), x).item<float>(), 98.0F);
}

TEST(CustomGradient, runs_in_a_traced_function_of_any_shape) {
  auto slope = function(
      [](Tensor x) {
        GradientTape tape;
        tape.watch(x);
        return tape.gradient(naive_softplus(x), x);
      },
      {.name = "slope"});
  EXPECT_EQ(slope(tensor({100.0F, 0.0F})).to_vector<float>(), (Floats{1, 0.5F}));
  EXPECT_EQ(slope(tensor({0.0F})).to_vector<float>(), (Floats{0.5F}));
  EXPECT_EQ(slope(zeros({0})).to_vector<float>(), Floats());
  EXPECT_EQ(slope.stats().traces, 1);
}

TEST(CustomGradient, a_gradient_of_unknown_size_becomes_a_check) {
  const auto odd =
      custom_gradient([](Tensor a, Tensor b) { return sum(a) + sum(b); },
                      [](const CustomGradientCall& call) { return std::vector<Tensor>{call.inputs[1] * 2, call.inputs[0] * 3}; });
  auto slopes = function(
      [&](Tensor a, Tensor b) {
        const std::vector<Tensor> both = gradients_of(odd, a, b);
        return std::pair<Tensor, Tensor>(both[0], both[1]);
      },
      {.name = "slopes"});
  EXPECT_EQ(slopes(tensor({1.0F, 2.0F}), tensor({3.0F, 4.0F})).first.to_vector<float>(), (Floats{6, 8}));
  EXPECT_THROW(slopes(tensor({1.0F, 2.0F}), tensor({3.0F})), ShapeError);
}

TEST(CustomGradient, variables_read_in_the_forward_callable_are_not_seen) {
  const Variable w(tensor({2.0F}), {.name = "w"});
  const auto scaled =
      custom_gradient([&](Tensor x) { return x * w; }, [](const CustomGradientCall& call) { return call.output_gradients[0]; });
  const Tensor x = tensor({3.0F});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = scaled(x);
  EXPECT_EQ(tape.gradient(y, {w}, {.unreached = Unreached::Zeros})[0].to_vector<float>(), Floats{0});
}

TEST(CustomGradient, refuses_gradients_that_do_not_fit) {
  const Tensor x = ones({2, 3}), other = ones({3});
  const auto slope = [&](const std::function<std::vector<Tensor>(const CustomGradientCall&)>& gradient) {
    const auto f = custom_gradient([](Tensor a) { return a * 2; }, gradient, {.name = "twice"});
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(f(x), x);
  };
  using Tensors = std::vector<Tensor>;
  expect_error<ShapeError>([&] { slope([&](const auto&) { return Tensors{other}; }); },
                           "twice: gradient 0 is f32[3]; expected f32[2, 3], as input 0.");
  expect_error<ShapeError>([&] { slope([&](const auto&) { return Tensors{ones({2, 4})}; }); },
                           "twice: gradient 0 is f32[2, 4]; expected f32[2, 3], as input 0.");
  expect_error<DtypeError>([&] { slope([&](const auto&) { return Tensors{cast(x, f64)}; }); },
                           "twice: gradient 0 is f64[2, 3]; expected f32[2, 3], as input 0. Cast it with as::cast(gradient, as::f32).");
  expect_error<ArgumentError>([&] { slope([&](const auto&) { return Tensors{x, x}; }); },
                              "twice: the gradient callable returned 2 tensors for 1 inputs; expected one per input, an empty handle where "
                              "nothing flows.");
  const auto nothing = custom_gradient([](Tensor) { return Tensor(); }, [](const CustomGradientCall&) { return Tensor(); });
  expect_error<ArgumentError>([&] { nothing(x); },
                              "custom_gradient: result 0 of the forward callable is an empty tensor handle; expected a tensor.");
  expect_error<ArgumentError>([&] { nothing(Tensor()); },
                              "custom_gradient: argument 0 is an empty tensor handle; expected a tensor with a value.");
}

TEST(StopGradient, keeps_the_value_and_ends_the_gradient) {
  const Tensor x = tensor({3.0F});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * stop_gradient(x);
  EXPECT_EQ(y.item<float>(), 9.0F);
  EXPECT_EQ(tape.gradient(y, x).item<float>(), 3.0F);
}

}  // namespace
}  // namespace anyshape
