// Samples of pooling: every window by itself, in double.
#include "check/op_samples.h"

#include <anyshape/ops.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace anyshape::check {
namespace {

struct PoolCase {
  int64_t axes = 2;
  int64_t window = 2, stride = 2;  // along the first axis; the others have a window of 3 and this stride
  const char* padding = "valid";
  bool around = false;    // explicit padding of 1 before and 2 behind instead
  bool adaptive = false;  // then `window` is the size of the result
};
constexpr PoolCase pool_cases[] = {
    {.padding = "same"},
    {},
    {.axes = 1, .window = 3, .stride = 1, .padding = "same"},
    {.axes = 3, .window = 3, .stride = 2, .padding = "same"},
    {.window = 3, .stride = 1},
    {.axes = 1, .window = 1, .stride = 3},
    {.window = 4, .stride = 2, .around = true},
    {.adaptive = true},
    {.axes = 1, .window = 5, .adaptive = true},
};
constexpr int64_t before = 1, behind = 2;

int64_t window_of(const PoolCase& how, size_t axis) { return axis == 0 ? how.window : 3; }

PerAxis window_of(const PoolCase& how) {
  std::vector<int64_t> window;
  for (size_t axis = 0; axis < static_cast<size_t>(how.axes); ++axis) window.push_back(window_of(how, axis));
  return PerAxis(window);
}
PoolOptions options_of(const PoolCase& how) {
  return {.strides = PerAxis(how.stride),
          .padding = how.around ? Padding(std::vector<Padding::Ends>{{before, behind}}) : Padding(how.padding)};
}

std::vector<InputPlan> pool_inputs(Random& random, Dtype dtype, int number, const Domain& domain) {
  const PoolCase how = pool_cases[number];
  const auto few = [&](int64_t low, int64_t high) { return random.every >= 0 ? std::max(random.every, low) : random.between(low, high); };
  Sizes x = {few(0, random.smooth ? 1 : 3)};
  for (int64_t axis = 0; axis < how.axes; ++axis) {
    int64_t least = std::string_view(how.padding) == "same" ? 0 : window_of(how, static_cast<size_t>(axis));
    if (how.around) least = std::max<int64_t>(least - before - behind, 0);
    if (how.adaptive) least = 1;
    x.push_back(std::max(few(0, random.smooth ? 3 : 9), least));
  }
  x.push_back(few(0, random.smooth ? 2 : 20));
  return {{x, dtype, domain}};
}

// The inputs of an output, from begin to end.
struct Range {
  int64_t begin, end;
};
struct Axis {
  int64_t outputs;
  std::vector<Range> ranges;
};
Axis axis_of(const PoolCase& how, int64_t size, size_t axis) {
  const int64_t window = window_of(how, axis), stride = how.stride;
  int64_t outputs = (size - window) / stride + 1, begin = 0;
  if (how.adaptive) outputs = window;
  if (how.around) outputs = (size + before + behind - window) / stride + 1, begin = before;
  if (std::string_view(how.padding) == "same") {
    outputs = (size + stride - 1) / stride;
    begin = std::max<int64_t>((outputs - 1) * stride + window - size, 0) / 2;
  }
  Axis result{outputs, {}};
  for (int64_t i = 0; i < outputs; ++i) {
    const int64_t first = i * stride - begin;
    result.ranges.push_back(how.adaptive ? Range{i * size / outputs, ((i + 1) * size + outputs - 1) / outputs}
                                         : Range{std::max<int64_t>(first, 0), std::min(first + window, size)});
  }
  return result;
}

template <class Fold>
Flat pooled(const Flat& x, int number, const Fold& fold) {
  const PoolCase how = pool_cases[number];
  std::vector<Axis> axes;
  Sizes sizes = x.sizes;
  for (size_t axis = 0; axis < static_cast<size_t>(how.axes); ++axis) {
    axes.push_back(axis_of(how, x.sizes[axis + 1], axis));
    sizes[axis + 1] = axes.back().outputs;
  }
  return flat_from(x.dtype, sizes, [&](const Sizes& index) {
    Sizes counts, from = index;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      const Range range = axes[axis].ranges[static_cast<size_t>(index[axis + 1])];
      counts.push_back(std::max<int64_t>(range.end - range.begin, 0));
    }
    std::vector<double> window;
    for (int64_t k = 0; k < count_of(counts); ++k) {
      const Sizes at = unravel(k, counts);
      for (size_t axis = 0; axis < axes.size(); ++axis)
        from[axis + 1] = axes[axis].ranges[static_cast<size_t>(index[axis + 1])].begin + at[axis];
      window.push_back(x.values[static_cast<size_t>(ravel(from, x.sizes))]);
    }
    return fold(window);
  });
}

double greatest(const std::vector<double>& window) {
  double best = -std::numeric_limits<double>::infinity();
  for (const double value : window) best = std::isnan(value) || std::isnan(best) ? std::nan("") : std::max(best, value);
  return best;
}
double mean_of(const std::vector<double>& window) {
  double total = 0;
  for (const double value : window) total += value;
  return total / static_cast<double>(window.size());
}

using Pool = Tensor (*)(const Tensor&, const PerAxis&, PoolOptions);
using AdaptivePool = Tensor (*)(const Tensor&, const PerAxis&);

std::vector<WrongCall> wrong_pools(const std::string& name, Pool pool) {
  return {
      wrong<ShapeError>(
          [=] { return pool(ones({2, 1, 5, 3}), 2, {}); },
          {name + ": axis 1 has 1 elements, too few for 2 taps: x is f32[2, 1, 5, 3]; expected at least 2 elements, or padding \"same\"."}),
      wrong<ShapeError>([=] { return pool(ones({2, 3}), 2, {}); }, {name + ": x has rank 2", "one to three spatial axes"}),
      wrong<ArgumentError>([=] { return pool(ones({2, 5, 5, 3}), {2, 2, 2}, {}); },
                           {name + ": the window is [2, 2, 2]; expected one number"}),
      wrong<ArgumentError>([=] { return pool(ones({2, 5, 5, 3}), 0, {}); }, {name + ": the window is 0; expected at least 1"}),
      wrong<ArgumentError>([=] { return pool(ones({2, 5, 5, 3}), 2, {.strides = -1}); }, {name + ": strides is -1"}),
      wrong<ArgumentError>([=] { return pool(ones({2, 5, 5, 3}), 2, {.padding = {1, 2, 3}}); }, {name + ": padding is [1, 2, 3]"}),
      wrong<ShapeError>([=] { return pool(ragged({{1.0F}, {2.0F, 3.0F}}), 2, {}); }, {name + ": x is ragged"}),
  };
}

OpSample pool_sample(const std::string& name, Pool pool, AdaptivePool adaptive, const Domain& domain,
                     double (*fold)(const std::vector<double>&)) {
  OpSample sample;
  sample.name = name + " and adaptive_" + name;
  sample.call = [=](Tensors in, int number) {
    const PoolCase how = pool_cases[number];
    return std::vector<Tensor>{how.adaptive ? adaptive(in[0], window_of(how)) : pool(in[0], window_of(how), options_of(how))};
  };
  sample.cases = static_cast<int>(std::size(pool_cases));
  sample.inputs = [=](Random& random, Dtype dtype, int number) { return pool_inputs(random, dtype, number, domain); };
  sample.reference = [=](Flats in, int number) { return std::vector<Flat>{pooled(in[0], number, fold)}; };
  sample.differentiable = {0};
  sample.wrong = wrong_pools(name, pool);
  sample.wrong.push_back(wrong<ArgumentError>([=] { return adaptive(ones({2, 5, 5, 3}), 0); }, {"adaptive_" + name + ": the size is 0"}));
  return sample;
}

}  // namespace

std::vector<OpSample> pooling_samples() {
  OpSample max = pool_sample("max_pool", max_pool, adaptive_max_pool, {}, greatest);
  max.ops = {"max_pool", "max_pool_gradient", "max_pool_pick"};
  max.dtypes = {f32, f64, i32};
  OpSample average = pool_sample("average_pool", average_pool, adaptive_average_pool, ordinary_numbers, mean_of);
  average.ops = {"average_pool", "average_pool_gradient"};
  average.f32 = {1e-6, 1e-6};
  average.second_order = true;
  return {max, average};
}

}  // namespace anyshape::check
