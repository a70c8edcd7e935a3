// Samples of what runs along one axis and keeps the shape: softmax and its kin, running sums and products.
#include "check/samples/reduce_cases.h"

namespace anyshape::check {
namespace {

std::vector<double> softmax_of(const std::vector<double>& row) {
  const double highest = *std::ranges::max_element(row);
  std::vector<double> powers;
  double sum = 0;
  for (const double value : row) {
    powers.push_back(std::exp(value - highest));
    sum += powers.back();
  }
  for (double& power : powers) power /= sum;
  return powers;
}

std::vector<double> log_softmax_of(const std::vector<double>& row) {
  const double highest = *std::ranges::max_element(row);
  double sum = 0;
  for (const double value : row) sum += std::exp(value - highest);
  std::vector<double> result;
  for (const double value : row) result.push_back(value - highest - std::log(sum));
  return result;
}

struct AlongCase {
  int rank;
  int64_t axis;
  int index() const { return static_cast<int>(axis < 0 ? axis + rank : axis); }
};
constexpr AlongCase along_cases[] = {{1, 0}, {2, -1}, {2, 0}, {3, 1}, {4, -2}};

using AlongOp = Tensor (*)(const Tensor&, AxisOptions);
using Row = std::vector<double> (*)(const std::vector<double>&);

std::vector<WrongCall> wrong_axes(const std::string& name, const std::function<Tensor(const Tensor&, int64_t)>& op) {
  return {
      wrong<ShapeError>([op] { return op(ones({2, 3}), 2); }, {name + ": axis 2 is outside the rank 2", "f32[2, 3]"}),
      wrong<ShapeError>([op] { return op(ones({2, 3}), -3); }, {name + ": axis -3 is outside the rank 2", "f32[2, 3]"}),
      wrong<ShapeError>([op] { return op(1.0F, -1); }, {name + ": axis -1 is outside the rank 0"}),
      wrong<ArgumentError>([op] { return op(Tensor(), 0); }, {"expected a tensor with a value"}),
  };
}

OpSample along_sample(const std::string& name, AlongOp op, Row row) {
  OpSample sample;
  sample.name = name;
  sample.cases = static_cast<int>(std::size(along_cases));
  sample.call = [op](Tensors in, int number) { return std::vector<Tensor>{op(in[0], {.axis = along_cases[number].axis})}; };
  sample.dtypes = {f32, f64, i32, u8};
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    return std::vector<InputPlan>{{random.sizes(along_cases[number].rank), dtype, ordinary_numbers}};
  };
  sample.reference = [row](Flats in, int number) {
    return std::vector<Flat>{along(in[0], along_cases[number].index(), floating_dtype(in[0].dtype), row)};
  };
  sample.f32 = {1e-5, 1e-6};
  sample.differentiable = {0};
  sample.second_order = true;
  sample.wrong = wrong_axes(name, [op](const Tensor& x, int64_t axis) { return op(x, {.axis = axis}); });
  return sample;
}

struct CumulateCase {
  AlongCase where;
  bool reverse = false, exclusive = false;
};
constexpr CumulateCase cumulate_cases[] = {{{1, 0}}, {{2, -1}, true}, {{2, 0}, false, true}, {{3, 1}, true, true}, {{2, 1}}};

using CumulateOp = Tensor (*)(const Tensor&, CumulateOptions);

OpSample cumulate_sample(const std::string& name, CumulateOp op, double nothing, double (*combine)(double, double), Domain domain) {
  OpSample sample;
  sample.name = name;
  sample.ops = {name};
  sample.cases = static_cast<int>(std::size(cumulate_cases));
  sample.dtypes = {f32, f64, i32, i64, u8, b8};
  sample.call = [op](Tensors in, int number) {
    const CumulateCase how = cumulate_cases[number];
    return std::vector<Tensor>{op(in[0], {.axis = how.where.axis, .reverse = how.reverse, .exclusive = how.exclusive})};
  };
  sample.inputs = [domain](Random& random, Dtype dtype, int number) {
    return std::vector<InputPlan>{{random.sizes(cumulate_cases[number].where.rank), dtype, domain}};
  };
  sample.reference = [nothing, combine](Flats in, int number) {
    const CumulateCase how = cumulate_cases[number];
    const auto row = [&](std::vector<double> values) {
      if (how.reverse) std::ranges::reverse(values);
      double running = nothing;
      for (double& value : values) {
        const double before = running;
        running = combine(running, value);
        value = how.exclusive ? before : running;
      }
      if (how.reverse) std::ranges::reverse(values);
      return values;
    };
    return std::vector<Flat>{along(in[0], how.where.index(), counting_dtype(in[0].dtype), row)};
  };
  sample.f32 = {1e-5, 1e-4};
  sample.differentiable = {0};
  sample.second_order = true;
  sample.wrong = wrong_axes(name, [op](const Tensor& x, int64_t axis) { return op(x, {.axis = axis}); });
  return sample;
}

}  // namespace

std::vector<OpSample> along_samples() {
  return {
      along_sample("softmax", static_cast<AlongOp>(softmax), softmax_of),
      along_sample("log_softmax", static_cast<AlongOp>(log_softmax), log_softmax_of),
      cumulate_sample("cumsum", cumsum, 0, [](double a, double b) { return a + b; }, {.extremes = false}),
      cumulate_sample("cumprod", cumprod, 1, [](double a, double b) { return a * b; }, {.low = -1.4, .high = 1.4, .extremes = false}),
  };
}

}  // namespace anyshape::check
