// Samples of the functions of analysis and of neural networks: one line per function with its formula and where it is tried.
#include "check/samples/reduce_cases.h"

#include <anyshape/ops.h>
#include <anyshape/ops/hyperbolic.h>

#include <cmath>
#include <numbers>

namespace anyshape::check {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double soft_plus(double x) { return std::isnan(x) ? x : std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double capped(double x) { return std::isnan(x) ? x : std::min(std::max(x, 0.0), 6.0); }
double exponential_below(double x, double alpha) { return x > 0 ? x : alpha * std::expm1(x); }

// Between the steps the derivative is zero.
OpSample rounding(const std::string& name, UnaryOp op, double (*reference)(double)) {
  Domain domain{.low = -2.9, .high = 2.9, .exact = {0.5, 1.5, 2.5, -0.5, -1.5, 2, -3}};
  for (double step = -3; step <= 3; step += 0.5) domain.kinks.push_back(step);
  return without_second_order(with_integers(unary_sample(name, op, reference, domain)));
}

OpSample clip_sample() {
  OpSample sample = composed(unary_sample(
      "clip", [](const Tensor& x) { return clip(x, -1, 2); }, [](double x) { return std::isnan(x) ? x : std::min(std::max(x, -1.0), 2.0); },
      {.kinks = {-1, 2}}));
  // Bounds are numbers of x's dtype: u8 has none below zero.
  sample = with_integers(without_second_order(std::move(sample)));
  std::erase(sample.dtypes, u8);
  return sample;
}

double sum_of_powers(const std::vector<double>& part) {
  double total = 0;
  for (const double value : part) total += std::exp(value);
  return std::log(total);
}

}  // namespace

std::vector<OpSample> function_samples() {
  const Domain small{.low = -2, .high = 2}, positive{.low = 0.05, .high = 8}, inside{.low = -0.95, .high = 0.95};
  const Domain turning{.low = -6, .high = 6, .extremes = false}, hinge{.kinks = {0}};
  std::vector<OpSample> samples = {
      unary_sample(
          "exp", exp, [](double x) { return std::exp(x); }, small),
      unary_sample(
          "expm1", expm1, [](double x) { return std::expm1(x); }, small),
      unary_sample("log", log, [](double x) { return std::log(x); }, positive, {2e-6, 1e-7}),
      unary_sample("log1p", log1p, [](double x) { return std::log1p(x); }, {.low = -0.9, .high = 4}),
      unary_sample(
          "sqrt", sqrt, [](double x) { return std::sqrt(x); }, positive),
      unary_sample(
          "rsqrt", rsqrt, [](double x) { return 1 / std::sqrt(x); }, positive),
      unary_sample("sin", sin, [](double x) { return std::sin(x); }, turning, {2e-6, 2e-7}),
      unary_sample("cos", cos, [](double x) { return std::cos(x); }, turning, {2e-6, 2e-7}),
      unary_sample("tan", tan, [](double x) { return std::tan(x); }, {.low = -1.4, .high = 1.4, .extremes = false}, {4e-6, 0}),
      unary_sample("sinh", sinh, [](double x) { return std::sinh(x); }),
      unary_sample("cosh", cosh, [](double x) { return std::cosh(x); }),
      unary_sample("tanh", tanh, [](double x) { return std::tanh(x); }),
      unary_sample(
          "asin", asin, [](double x) { return std::asin(x); }, inside),
      unary_sample(
          "acos", acos, [](double x) { return std::acos(x); }, inside),
      unary_sample("atan", atan, [](double x) { return std::atan(x); }),
      composed(unary_sample("asinh", asinh, [](double x) { return std::asinh(x); }, {}, {4e-6, 0})),
      composed(unary_sample("acosh", acosh, [](double x) { return std::acosh(x); }, {.low = 1.05, .high = 8}, {4e-6, 0})),
      composed(unary_sample("atanh", atanh, [](double x) { return std::atanh(x); }, inside, {4e-6, 0})),
      unary_sample("erf", erf, [](double x) { return std::erf(x); }),
      unary_sample("sigmoid", sigmoid, logistic, {}, {4e-6, 0}),
      unary_sample("softplus", softplus, soft_plus, {}, {4e-6, 0}),
      rounding("floor", floor, [](double x) { return std::floor(x); }),
      rounding("ceil", ceil, [](double x) { return std::ceil(x); }),
      rounding("trunc", trunc, [](double x) { return std::trunc(x); }),
      rounding("round", round, [](double x) { return std::nearbyint(x); }),
      composed(with_integers(unary_sample(
          "relu", relu, [](double x) { return x <= 0 ? 0.0 : x; }, hinge))),
      composed(unary_sample("relu6", relu6, capped, {.low = -3, .high = 9, .kinks = {0, 6}})),
      composed(unary_sample("log_sigmoid", log_sigmoid, [](double x) { return -soft_plus(-x); }, {}, {4e-6, 0})),
      composed(unary_sample("hard_sigmoid", hard_sigmoid, [](double x) { return capped(x + 3) / 6; },
                            {.low = -5, .high = 5, .kinks = {-3, 3}}, {4e-6, 1e-7})),
      composed(unary_sample("silu", silu, [](double x) { return x * logistic(x); }, {}, {4e-6, 0})),
      composed(unary_sample(
          "softsign", softsign, [](double x) { return x / (1 + std::abs(x)); }, hinge)),
      composed(unary_sample("mish", mish, [](double x) { return x * std::tanh(soft_plus(x)); }, {}, {1e-5, 0})),
      composed(unary_sample("selu", selu, [](double x) { return 1.0507009873554805 * exponential_below(x, 1.6732632423543772); }, hinge,
                            {4e-6, 0})),
      composed(unary_sample(
          "leaky_relu", leaky_relu, [](double x) { return x <= 0 ? 0.2 * x : x; }, hinge)),
      composed(unary_sample(
          "elu", elu, [](double x) { return exponential_below(x, 1); }, hinge)),
      unary_sample("gelu", gelu, [](double x) { return x * 0.5 * (1 + std::erf(x * std::sqrt(0.5))); }, small, {1e-5, 1e-7}),
      composed(unary_sample(
          "gelu by tanh", [](const Tensor& x) { return gelu(x, {.approximate = true}); },
          [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x))); }, small,
          {1e-5, 1e-6})),
      clip_sample(),
      composed(reduce_sample("logsumexp", static_cast<ReduceOp>(logsumexp), sum_of_powers, floating_dtype, ordinary_numbers)),
  };
  return samples;
}

}  // namespace anyshape::check
