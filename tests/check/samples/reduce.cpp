// Samples of reductions by axes, with and without keep_dims.
#include "check/samples/reduce_cases.h"

namespace anyshape::check {
namespace {

double total(const std::vector<double>& part) { return std::accumulate(part.begin(), part.end(), 0.0); }
double product(const std::vector<double>& part) { return std::accumulate(part.begin(), part.end(), 1.0, std::multiplies<>()); }
double average(const std::vector<double>& part) { return total(part) / static_cast<double>(part.size()); }
double nonzeros(const std::vector<double>& part) {
  return static_cast<double>(std::ranges::count_if(part, [](double value) { return value != 0; }));
}

double variance(const std::vector<double>& part) {
  const double middle = average(part);
  double sum = 0;
  for (const double value : part) sum += (value - middle) * (value - middle);
  return sum / static_cast<double>(part.size());
}

double length(const std::vector<double>& part) {
  double sum = 0;
  for (const double value : part) sum += value * value;
  return std::sqrt(sum);
}

std::vector<double> absolute(std::vector<double> part) {
  for (double& value : part) value = std::abs(value);
  return part;
}

double greatest(const std::vector<double>& part) {
  double found = 0;
  for (const double value : part) found = std::isnan(found) || std::isnan(value) ? found + value : std::max(found, std::abs(value));
  return found;
}

Tensor sum_norm(const Tensor& x, ReduceOptions options) {
  return norm(x, {.order = 1, .axes = options.axes, .keep_dims = options.keep_dims});
}
Tensor greatest_norm(const Tensor& x, ReduceOptions options) {
  return norm(x, {.order = std::numeric_limits<double>::infinity(), .axes = options.axes, .keep_dims = options.keep_dims});
}

// Where a root stands at zero there is no slope: no single elements.
OpSample of_several(OpSample sample) {
  const auto inputs = sample.inputs;
  sample.inputs = [inputs](Random& random, Dtype dtype, int number) {
    std::vector<InputPlan> plans = inputs(random, dtype, number);
    if (random.smooth) {
      for (int64_t& size : plans[0].sizes) size = std::max<int64_t>(size, 2);
      if (plans[0].sizes.empty()) plans[0].domain = {.low = 1, .high = 2};
    }
    return plans;
  };
  return sample;
}

OpSample sum_to_sample() {
  OpSample sample;
  sample.name = "sum_to";
  sample.same_bits = false;  // axes whose fate is open are added up one after the other, known ones as one
  sample.ops = {"sum_to"};
  sample.cases = 5;
  sample.dtypes = {f32, f64, i32, u8};
  // The second input is there for its shape: what x broadcast to would have come from.
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    constexpr int ranks[][2] = {{2, 2}, {3, 1}, {1, 0}, {3, 3}, {4, 2}};
    const Sizes sizes = random.sizes(ranks[number][0]);
    Sizes target(sizes.end() - ranks[number][1], sizes.end());
    for (int64_t& size : target) size = random.chance(40) ? 1 : size;
    return std::vector<InputPlan>{{sizes, dtype, ordinary_numbers}, {target, dtype, ordinary_numbers}};
  };
  sample.call = [](Tensors in, int) { return std::vector<Tensor>{sum_to(in[0], in[1].shape())}; };
  sample.reference = [](Flats in, int) {
    Flat result{in[0].dtype, in[1].sizes, std::vector<double>(in[1].values.size())};
    for (int64_t i = 0; i < in[0].count(); ++i) {
      const Sizes index = unravel(i, in[0].sizes);
      Sizes to(index.end() - in[1].rank(), index.end());
      for (size_t axis = 0; axis < to.size(); ++axis) to[axis] = in[1].sizes[axis] == 1 ? 0 : to[axis];
      result.values[static_cast<size_t>(ravel(to, in[1].sizes))] += in[0].values[static_cast<size_t>(i)];
    }
    return std::vector<Flat>{std::move(result)};
  };
  sample.f32 = {4e-6, 0};
  sample.absolute_per_element = 2e-6;
  sample.differentiable = {0};
  sample.second_order = true;
  sample.wrong = {
      wrong<ShapeError>([] { return sum_to(ones({2, 3}), {2, 2}); }, {"sum_to: cannot sum to [2, 2]", "f32[2, 3]"}),
      wrong<ShapeError>([] { return sum_to(ones({3}), {1, 3}); }, {"sum_to: cannot sum to [1, 3]", "f32[3]"}),
      wrong<ShapeError>([] { return sum_to(ones({3}), {0}); }, {"sum_to: cannot sum to [0]", "f32[3]"}),
  };
  return sample;
}

}  // namespace

OpSample reduce_sample(const std::string& name, ReduceOp op, Fold fold, Dtype (*result)(Dtype), Domain domain) {
  OpSample sample;
  sample.name = name;
  sample.ops = {name};
  sample.dtypes = {f32, f64, i32, i64, u8, b8};
  sample.cases = static_cast<int>(reduce_cases().size());
  sample.inputs = [domain](Random& random, Dtype dtype, int number) {
    return std::vector<InputPlan>{{random.sizes(reduce_cases()[static_cast<size_t>(number)].rank), dtype, domain}};
  };
  sample.f32 = {4e-6, 0};
  sample.absolute_per_element = 2e-6;
  sample.differentiable = {0};
  sample.second_order = true;
  sample.call = [op](Tensors in, int number) {
    return std::vector<Tensor>{op(in[0], reduce_cases()[static_cast<size_t>(number)].options())};
  };
  sample.reference = [fold, result](Flats in, int number) {
    return std::vector<Flat>{folded(in[0], reduce_cases()[static_cast<size_t>(number)], result(in[0].dtype), fold)};
  };
  sample.wrong = {
      wrong<ShapeError>([op] { return op(ones({2, 3}), {.axes = {2}}); }, {"axis 2 is outside the rank 2", "[2, 3]"}),
      wrong<ShapeError>([op] { return op(ones({2, 3}), {.axes = {-3}}); }, {"axis -3 is outside the rank 2", "[2, 3]"}),
      wrong<ShapeError>([op] { return op(ones({2, 3}), {.axes = {1, -1}}); }, {"axis 1 is named twice", "[2, 3]"}),
      wrong<ArgumentError>([op] { return op(Tensor(), {}); }, {"expected a tensor with a value"}),
  };
  return sample;
}

std::vector<OpSample> reduce_samples() {
  // An infinity or a NaN may be anywhere in a sum; the largest numbers would overflow on the way.
  const Domain summed{.extremes = false};
  const Domain near_one{.low = -1.4, .high = 1.4, .extremes = false};
  const auto var_of = [](const Tensor& x, ReduceOptions options) { return var(x, {.axes = options.axes, .keep_dims = options.keep_dims}); };
  const auto std_of = [](const Tensor& x, ReduceOptions options) { return std(x, {.axes = options.axes, .keep_dims = options.keep_dims}); };
  const auto norm_of = [](const Tensor& x, ReduceOptions options) {
    return norm(x, {.axes = options.axes, .keep_dims = options.keep_dims});
  };
  std::vector<OpSample> samples = {
      reduce_sample("sum", sum, total, counting_dtype, summed),
      reduce_sample("prod", prod, product, counting_dtype, near_one),
      composed(reduce_sample("mean", mean, average, floating_dtype, summed)),
      composed(reduce_sample("var", var_of, variance, floating_dtype, summed)),
      of_several(composed(reduce_sample(
          "std", std_of, [](const std::vector<double>& part) { return std::sqrt(variance(part)); }, floating_dtype, ordinary_numbers))),
      composed(reduce_sample("norm", norm_of, length, floating_dtype, summed)),
      composed(reduce_sample("norm of order 1", sum_norm, [](const std::vector<double>& part) { return total(absolute(part)); },
                             floating_dtype, {.extremes = false, .kinks = {0}})),
      without_second_order(composed(reduce_sample("norm of infinite order", greatest_norm, greatest, floating_dtype, {.kinks = {0}}))),
      without_gradient(reduce_sample(
          "any", any, [](const std::vector<double>& part) { return nonzeros(part) > 0 ? 1.0 : 0.0; }, bool_dtype,
          Domain{.low = 0, .high = 0})),
      without_gradient(reduce_sample(
          "all", all, [](const std::vector<double>& part) { return nonzeros(part) == static_cast<double>(part.size()) ? 1.0 : 0.0; },
          bool_dtype, {})),
      composed(without_gradient(reduce_sample("count_nonzero", count_nonzero, nonzeros, i64_dtype, {}))),
      sum_to_sample(),
  };
  // The second derivative of a root grows without bound near zero.
  for (OpSample& sample : samples) {
    if (sample.name == "std" || sample.name == "norm") sample.second_order = false;
  }
  return samples;
}

}  // namespace anyshape::check
