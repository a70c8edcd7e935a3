// Activations and logsumexp: numbers against their formulas, far arguments, dtypes, and use as function values.
#include "ops/expect_error.h"

#include <anyshape/error.h>
#include <anyshape/gradient.h>
#include <anyshape/ops.h>

#include <cmath>
#include <limits>

namespace anyshape {
namespace {

using Floats = std::vector<float>;
using Activation = Tensor (*)(const Tensor&);
const float infinity = std::numeric_limits<float>::infinity();

double exact_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double exact_softplus(double x) { return std::log1p(std::exp(x)); }

TEST(Neural, activations_follow_their_formulas) {
  struct Row {
    const char* name;
    Activation op;
    double (*exact)(double);
  };
  const Row rows[] = {
      {"relu", relu, [](double x) { return std::max(x, 0.0); }},
      {"relu6", relu6, [](double x) { return std::min(std::max(x, 0.0), 6.0); }},
      {"sigmoid", sigmoid, exact_sigmoid},
      {"log_sigmoid", log_sigmoid, [](double x) { return -exact_softplus(-x); }},
      {"hard_sigmoid", hard_sigmoid, [](double x) { return std::min(std::max(x + 3, 0.0), 6.0) / 6; }},
      {"silu", silu, [](double x) { return x * exact_sigmoid(x); }},
      {"softplus", softplus, exact_softplus},
      {"softsign", softsign, [](double x) { return x / (1 + std::fabs(x)); }},
      {"mish", mish, [](double x) { return x * std::tanh(exact_softplus(x)); }},
      {"leaky_relu", leaky_relu, [](double x) { return x > 0 ? x : 0.2 * x; }},
      {"elu", elu, [](double x) { return x > 0 ? x : std::expm1(x); }},
      {"selu", selu, [](double x) { return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x)); }},
      {"gelu", gelu, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
  };
  const std::vector<double> values = {-7.5, -3.0, -0.5, 0.0, 0.25, 2.0, 6.5};
  for (const Row& row : rows) {
    const std::vector<double> got = row.op(tensor(values, {7})).to_vector<double>();
    for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(got[i], row.exact(values[i]), 1e-14) << row.name << " of " << values[i];
    EXPECT_EQ(row.op(tensor({0.5F})).dtype(), f32) << row.name;
    EXPECT_TRUE(row.op(zeros({0, 3})).shape() == (Shape{0, 3})) << row.name;
  }
}

TEST(Neural, options_change_slope_scale_and_form) {
  EXPECT_EQ(leaky_relu(tensor({-2.0F, 2.0F}), {.negative_slope = 0.5}).to_vector<float>(), (Floats{-1, 2}));
  EXPECT_NEAR(elu(tensor({-1.0}), {.alpha = 0.7}).item<double>(), 0.7 * std::expm1(-1.0), 1e-15);
  const double x = 0.8;
  const double approximate = 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.141592653589793) * (x + 0.044715 * x * x * x)));
  EXPECT_NEAR(gelu(tensor({x}), {.approximate = true}).item<double>(), approximate, 1e-14);
}

TEST(Neural, far_arguments_neither_overflow_nor_spoil_gradients) {
  EXPECT_EQ(softplus(tensor({500.0F, -500.0F})).to_vector<float>(), (Floats{500, 0}));
  EXPECT_EQ(sigmoid(tensor({500.0F, -500.0F})).to_vector<float>(), (Floats{1, 0}));
  for (const Activation op : {elu, selu, softplus, sigmoid, silu, gelu}) {
    const Tensor x = tensor({300.0F, -300.0F});
    GradientTape tape;
    tape.watch(x);
    const Tensor y = sum(op(x));
    for (const float slope : tape.gradient(y, x).to_vector<float>()) EXPECT_TRUE(std::isfinite(slope));
  }
}

TEST(Neural, logsumexp_is_the_shifted_sum) {
  const Tensor x = tensor({{1000.0F, 1000.0F}, {0.0F, -infinity}, {-infinity, -infinity}, {infinity, 1.0F}});
  const Floats rows = logsumexp(x, {.axes = {-1}}).to_vector<float>();
  EXPECT_NEAR(rows[0], 1000.6931, 1e-3);
  EXPECT_EQ(rows[1], 0);
  EXPECT_EQ(rows[2], -infinity);
  EXPECT_EQ(rows[3], infinity);
  EXPECT_TRUE(logsumexp(x, {.axes = {0}, .keep_dims = true}).shape() == (Shape{1, 2}));
  EXPECT_EQ(logsumexp(zeros({0, 2}), {.axes = {0}}).to_vector<float>(), (Floats{-infinity, -infinity}));
  EXPECT_NEAR(logsumexp(tensor({0, 0})).item<float>(), std::log(2.0), 1e-6) << "integers are taken as f32";
}

TEST(Neural, refuses_axes_outside_the_rank_and_handles_on_nothing) {
  EXPECT_THROW(logsumexp(ones({2, 3}), {.axes = {2}}), ShapeError);
  EXPECT_THROW(logsumexp(ones({2, 3}), {.axes = {0, 0}}), ShapeError);
  expect_error<ArgumentError>([] { sigmoid(Tensor()); }, "sigmoid: argument 0 is an empty tensor handle; expected a tensor with a value.");
  expect_error<ArgumentError>([] { softplus(Tensor()); },
                              "softplus: argument 0 is an empty tensor handle; expected a tensor with a value.");
}

}  // namespace
}  // namespace anyshape
