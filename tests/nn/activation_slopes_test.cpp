// The gradient of every activation at its kinks, at 0 of both signs and in the tails: against the closed form, eagerly and traced, in f64 and
// f32, and against the slopes on both sides. At a real kink the slope is TensorFlow's: that of the constant side, and of selu that above 0.
#include "autodiff/one_sided.h"

#include <anyshape/activation.h>
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace anyshape::test {
namespace {

using Numbers = std::vector<double>;

double s(double x) { return 1 / (1 + std::exp(-x)); }
double bell(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi); }
double mish_slope(double x) {
  const double t = std::tanh(std::log1p(std::exp(-std::abs(x))) + std::max(x, 0.0));
  return t + x * (1 - t * t) * s(x);
}
double tanh_gelu_slope(double x) {
  if (std::abs(x) > 1e6) return x > 0 ? 1 : 0;
  const double c = std::sqrt(2 / std::numbers::pi), inner = std::tanh(c * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + inner) + 0.5 * x * (1 - inner * inner) * c * (1 + 3 * 0.044715 * x * x);
}

struct Activation {
  std::string name;
  std::function<Tensor(const Tensor&)> call;
  std::function<double(double)> slope;
};

Activation named(const std::string& name, std::function<double(double)> slope) {
  return {name, ActivationFunction(name), std::move(slope)};
}

constexpr double scale = 1.0507009873554805, alpha = 1.6732632423543772;

std::vector<Activation> activations() {
  return {
      named("linear", [](double) { return 1; }),
      named("relu", [](double x) { return x > 0; }),
      named("relu6", [](double x) { return x > 0 && x < 6; }),
      named("leaky_relu", [](double x) { return x > 0 ? 1 : 0.2; }),
      {"leaky_relu of 0.01", [](const Tensor& x) { return leaky_relu(x, {.negative_slope = 0.01}); },
       [](double x) { return x > 0 ? 1 : 0.01; }},
      named("elu", [](double x) { return x > 0 ? 1 : std::exp(x); }),
      {"elu of 0.5", [](const Tensor& x) { return elu(x, {.alpha = 0.5}); }, [](double x) { return x > 0 ? 1 : 0.5 * std::exp(x); }},
      named("selu", [](double x) { return x >= 0 ? scale : scale * alpha * std::exp(x); }),
      named("gelu", [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2) + x * bell(x); }),
      {"gelu by tanh", [](const Tensor& x) { return gelu(x, {.approximate = true}); }, tanh_gelu_slope},
      named("silu", [](double x) { return s(x) + x * s(x) * s(-x); }),
      named("swish", [](double x) { return s(x) + x * s(x) * s(-x); }),
      named("mish", mish_slope),
      named("softplus", s),
      named("softsign", [](double x) { return 1 / ((1 + std::abs(x)) * (1 + std::abs(x))); }),
      named("sigmoid", [](double x) { return s(x) * s(-x); }),
      named("tanh", [](double x) { return 1 / (std::cosh(x) * std::cosh(x)); }),
      named("log_sigmoid", [](double x) { return s(-x); }),
      named("exponential", [](double x) { return std::exp(x); }),
      named("softmax", [](double) { return 0; }),
      named("log_softmax", [](double) { return 0; }),
      named("hard_sigmoid", [](double x) { return x > -3 && x < 3 ? 1.0 / 6 : 0; }),
      named("square", [](double x) { return 2 * x; }),
  };
}

const Numbers points = {0, -0.0, 1, -1, 3, -3, 6, -6, 0.5, -0.5, 1e-9, -1e-9, 20, -20, 60, -60};
const Numbers far = {1e4, -1e4, 1e10, -1e10, 1e20, -1e20, 1e30, -1e30};

Tensor slopes(const std::function<Tensor(const Tensor&)>& call, const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  return tape.gradient(sum(call(x)), x);
}

void expect_slopes(const Activation& each, const Numbers& at, Dtype dtype, double tolerance) {
  const Tensor x = cast(tensor(at, {static_cast<int64_t>(at.size()), 1}), dtype);
  auto traced = function([&](Tensor given) { return slopes(each.call, given); }, {.name = "slopes"});
  const Numbers eager = cast(slopes(each.call, x), f64).to_vector<double>(), from_trace = cast(traced(x), f64).to_vector<double>();
  for (size_t i = 0; i < at.size(); ++i) {
    const double wanted = each.slope(at[i]), allowed = tolerance * std::max(1.0, std::abs(wanted));
    EXPECT_NEAR(eager[i], wanted, allowed) << each.name << " eagerly at " << at[i];
    EXPECT_NEAR(from_trace[i], wanted, allowed) << each.name << " traced at " << at[i];
  }
}

TEST(ActivationSlopes, are_those_of_the_closed_form) {
  for (const Activation& each : activations()) {
    expect_slopes(each, points, f64, 1e-12);
    expect_slopes(each, points, f32, 4e-6);
  }
}

TEST(ActivationSlopes, are_finite_and_right_far_out) {
  for (const Activation& each : activations()) {
    if (each.name == "exponential" || each.name == "square") continue;  // they are infinite there, or as large
    expect_slopes(each, far, f64, 1e-12);
    expect_slopes(each, far, f32, 1e-6);
  }
}

TEST(ActivationSlopes, lie_between_the_slopes_on_both_sides) {
  for (const Activation& each : activations()) {
    for (const double x : points) {
      if (std::abs(x) > 20) continue;
      SCOPED_TRACE(each.name + " at " + std::to_string(x));
      expect_between_one_sided_slopes([&](const auto& in) { return each.call(in[0]); }, {tensor(Numbers{x}, {1, 1})}, 1e-4);
    }
  }
}

// Of the slope itself, where the activation is smooth.
TEST(ActivationSlopes, of_smooth_ones_are_right_to_second_order_at_zero) {
  const std::vector<std::pair<std::string, double>> wanted = {{"gelu", 2 * bell(0)}, {"silu", 0.5},      {"softplus", 0.25},
                                                              {"sigmoid", 0},        {"tanh", 0},        {"log_sigmoid", -0.25},
                                                              {"mish", 0.64},        {"exponential", 1}, {"square", 2}};
  for (const auto& [name, second] : wanted) {
    const Tensor x = zeros({1}, {.dtype = f64});
    const ActivationFunction call(name);
    EXPECT_NEAR(slopes([&](const Tensor& given) { return slopes(call, given); }, x).item<double>(), second, 1e-12) << name;
  }
}

}  // namespace
}  // namespace anyshape::test
