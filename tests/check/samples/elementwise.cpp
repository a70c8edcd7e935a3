// Samples of elementwise ops: one line per op with its formula and domain.
#include "check/op_samples.h"

#include <anyshape/ops.h>

namespace anyshape::check {
namespace {

OpSample comparison(const std::string& name, BinaryOp op, double (*reference)(double, double)) {
  // Few different values, so that equal ones meet.
  const Domain few{.low = -2, .high = 2, .exact = {1, 1, 1, 2, 2, -1, -1}};
  return giving_bool(with_integers(binary_sample(name, op, reference, few, few)));
}

OpSample question(const std::string& name, UnaryOp op, double (*reference)(double)) {
  return giving_bool(with_integers(unary_sample(name, op, reference, {.low = -1, .high = 1})));
}

OpSample where_sample() {
  OpSample sample;
  sample.name = "where";
  sample.ops = {"where"};
  sample.call = [](Tensors in, int) { return std::vector<Tensor>{where(in[0], in[1], in[2])}; };
  sample.dtypes = {f32, f64, i32, i64, u8, b8};
  sample.cases = 7;
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    std::vector<InputPlan> plans = broadcasting_inputs(random, dtype, number, {{}, {}, {}});
    plans[0].dtype = b8;
    return plans;
  };
  sample.reference = [](Flats in, int) {
    const auto element = [&](const Sizes& index) {
      return broadcast_at(in[0], index) != 0 ? broadcast_at(in[1], index) : broadcast_at(in[2], index);
    };
    const Sizes sizes = broadcast_sizes(broadcast_sizes(in[0].sizes, in[1].sizes), in[2].sizes);
    return std::vector<Flat>{flat_from(in[1].dtype, sizes, element)};
  };
  sample.differentiable = {1, 2};
  sample.second_order = true;
  sample.wrong = {
      wrong<ShapeError>([] { return where(ones({2}, {.dtype = b8}), ones({3}), ones({2})); }, {"where: shapes do not broadcast", "f32[3]"}),
      wrong<ShapeError>([] { return where(ones({0}, {.dtype = b8}), ones({3}), 1.0F); }, {"where: shapes do not broadcast", "b8[0]"}),
      wrong<ArgumentError>([] { return where(Tensor(), ones({3}), 1.0F); }, {"where: argument 0 is an empty tensor handle"}),
  };
  return sample;
}

double converted(double value, Dtype to) {
  if (to == b8) return value != 0 ? 1 : 0;
  if (is_floating(to)) return value;
  if (std::isnan(value)) return 0;
  const double low = to == u8 ? 0 : to == i32 ? -2147483648.0 : -9223372036854775808.0;
  const double high = to == u8 ? 255 : to == i32 ? 2147483647.0 : 9223372036854775807.0;
  return std::min(std::max(std::trunc(value), low), high);
}

OpSample cast_sample(Dtype to) {
  OpSample sample;
  sample.name = "cast to " + std::string(to_string(to));
  sample.ops = {"cast"};
  sample.call = [to](Tensors in, int) { return std::vector<Tensor>{cast(in[0], to)}; };
  sample.dtypes = {f32, f64, i32, i64, u8, b8};
  sample.cases = 3;
  // Integers inside u8, whose overflow wraps; floats saturate.
  sample.inputs = [to](Random& random, Dtype dtype, int number) {
    const bool wide = is_floating(dtype) || to != u8;
    const Domain domain{.low = wide ? -300.0 : 0.0, .high = wide ? 300.0 : 255.0};
    return one_input(random, dtype, number, domain);
  };
  sample.reference = [to](Flats in, int) {
    Flat result{to, in[0].sizes, {}};
    for (const double value : in[0].values) result.values.push_back(converted(value, to));
    return std::vector<Flat>{std::move(result)};
  };
  if (to == f64) sample.differentiable = {0};  // differences of a rounded number say nothing
  sample.wrong = {
      wrong<ArgumentError>([to] { return cast(Tensor(), to); }, {"expected a tensor with a value"}),
      wrong<ArgumentError>([to] { return cast(cast(Tensor(), to), f64); }, {"expected a tensor with a value"}),
      wrong<ArgumentError>([to] { return cast(Tensor(), to == f64 ? f32 : f64); }, {"expected a tensor with a value"}),
  };
  return sample;
}

}  // namespace

std::vector<OpSample> elementwise_samples() {
  const Domain any{}, away{.low = 0.25, .high = 4}, hinge{.kinks = {0}};
  const Domain plain{.low = -7, .high = 7, .zeros = false, .infinities = false, .nan = false, .extremes = false};
  const Domain divisor{.low = 0.6, .high = 5, .zeros = false, .infinities = false, .nan = false, .extremes = false};
  std::vector<OpSample> samples = {
      with_integers(unary_sample("negative", negative, [](double x) { return -x; })),
      with_integers(unary_sample(
          "abs", abs, [](double x) { return std::abs(x); }, hinge)),
      without_second_order(with_integers(unary_sample(
          "sign", sign, [](double x) { return std::isnan(x) ? x : static_cast<double>(x > 0) - static_cast<double>(x < 0); }, hinge))),
      composed(with_integers(unary_sample("square", square, [](double x) { return x * x; }))),
      composed(unary_sample(
          "reciprocal", reciprocal, [](double x) { return 1 / x; }, away)),
      with_integers(binary_sample("add", add, [](double a, double b) { return a + b; })),
      with_integers(binary_sample("subtract", subtract, [](double a, double b) { return a - b; })),
      with_integers(binary_sample("multiply", multiply, [](double a, double b) { return a * b; })),
      binary_sample(
          "divide", divide, [](double a, double b) { return a / b; }, any, away),
      without_second_order(with_integers(binary_sample(
          "floor_divide", floor_divide, [](double a, double b) { return std::floor(a / b); }, plain, divisor))),
      without_second_order(with_integers(binary_sample("remainder", remainder, [](double a, double b) { return a - b * std::floor(a / b); },
                                                       plain, divisor, {1e-5, 1e-6}))),
      binary_sample("pow", pow, [](double a, double b) { return std::pow(a, b); }, {.low = 0.2, .high = 3}, {.low = -2, .high = 2},
                    {8e-6, 0}),
      binary_sample("atan2", atan2, [](double a, double b) { return std::atan2(a, b); }, any, away, {4e-6, 0}),
      with_integers(
          binary_sample("maximum", maximum, [](double a, double b) { return std::isnan(a) || std::isnan(b) ? a + b : std::max(a, b); })),
      with_integers(
          binary_sample("minimum", minimum, [](double a, double b) { return std::isnan(a) || std::isnan(b) ? a + b : std::min(a, b); })),
      comparison("equal", equal, [](double a, double b) { return a == b ? 1.0 : 0.0; }),
      comparison("not_equal", not_equal, [](double a, double b) { return a != b ? 1.0 : 0.0; }),
      comparison("less", less, [](double a, double b) { return a < b ? 1.0 : 0.0; }),
      comparison("less_equal", less_equal, [](double a, double b) { return a <= b ? 1.0 : 0.0; }),
      composed(comparison("greater", greater, [](double a, double b) { return a > b ? 1.0 : 0.0; })),
      composed(comparison("greater_equal", greater_equal, [](double a, double b) { return a >= b ? 1.0 : 0.0; })),
      comparison("logical_and", logical_and, [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }),
      comparison("logical_or", logical_or, [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }),
      comparison("logical_xor", logical_xor, [](double a, double b) { return (a != 0) != (b != 0) ? 1.0 : 0.0; }),
      question("logical_not", logical_not, [](double x) { return x == 0 ? 1.0 : 0.0; }),
      question("is_nan", is_nan, [](double x) { return std::isnan(x) ? 1.0 : 0.0; }),
      question("is_inf", is_inf, [](double x) { return std::isinf(x) ? 1.0 : 0.0; }),
      question("is_finite", is_finite, [](double x) { return std::isfinite(x) ? 1.0 : 0.0; }),
      question("sign_bit", sign_bit, [](double x) { return std::signbit(x) ? 1.0 : 0.0; }),
      where_sample(),
  };
  for (const Dtype to : {f32, f64, f16, bf16, i32, i64, b8, u8}) samples.push_back(cast_sample(to));
  return samples;
}

}  // namespace anyshape::check
