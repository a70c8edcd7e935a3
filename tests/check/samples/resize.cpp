// Samples of what changes the size of images: every pixel of the result by itself, in double.
#include "check/op_samples.h"

#include <anyshape/ops.h>

#include <algorithm>
#include <cmath>

namespace anyshape::check {
namespace {

using Weights = std::vector<std::vector<double>>;  // of results along an axis, per input

Weights nearest_weights(int64_t n, int64_t m) {
  Weights weights(static_cast<size_t>(m), std::vector<double>(static_cast<size_t>(n), 0.0));
  for (int64_t i = 0; i < m; ++i) weights[static_cast<size_t>(i)][static_cast<size_t>((2 * i + 1) * n / (2 * m))] = 1;
  return weights;
}
Weights linear_weights(int64_t n, int64_t m, double reach) {
  Weights weights(static_cast<size_t>(m), std::vector<double>(static_cast<size_t>(n), 0.0));
  for (int64_t i = 0; i < m; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * static_cast<double>(n) / static_cast<double>(m);
    double total = 0;
    for (int64_t j = 0; j < n; ++j) {
      double& weight = weights[static_cast<size_t>(i)][static_cast<size_t>(j)];
      weight = std::max(0.0, 1 - std::abs(static_cast<double>(j) + 0.5 - centre) / reach);
      total += weight;
    }
    for (double& weight : weights[static_cast<size_t>(i)]) weight /= total;
  }
  return weights;
}

Flat resized(const Flat& x, const std::vector<Weights>& weights) {
  Sizes sizes = x.sizes;
  for (size_t axis = 0; axis < weights.size(); ++axis) sizes[axis + 1] = static_cast<int64_t>(weights[axis].size());
  Flat result = flat_from(x.dtype, sizes, [](const Sizes&) { return 0.0; });
  for (int64_t to = 0; to < result.count(); ++to) {
    const Sizes index = unravel(to, sizes);
    for (int64_t from = 0; from < x.count(); ++from) {
      const Sizes source = unravel(from, x.sizes);
      double weight = source.front() == index.front() && source.back() == index.back() ? 1 : 0;
      for (size_t axis = 0; weight != 0 && axis < weights.size(); ++axis)
        weight *= weights[axis][static_cast<size_t>(index[axis + 1])][static_cast<size_t>(source[axis + 1])];
      if (weight != 0) result.values[static_cast<size_t>(to)] += weight * x.values[static_cast<size_t>(from)];
    }
  }
  return result;
}

std::vector<InputPlan> image_inputs(Random& random, Dtype dtype, int axes, int64_t least) {
  const auto few = [&](int64_t low, int64_t high) { return random.every >= 0 ? std::max(random.every, low) : random.between(low, high); };
  Sizes sizes = {few(0, 2)};
  for (int axis = 0; axis < axes; ++axis) sizes.push_back(few(least, std::max<int64_t>(least, random.smooth ? 3 : 6)));
  sizes.push_back(few(0, random.smooth ? 2 : 5));
  return {{sizes, dtype, ordinary_numbers}};
}

struct ResizeCase {
  int64_t height, width;
  ResizeOptions options = {};
};
constexpr auto nearest = Interpolation::Nearest;
const ResizeCase resize_cases[] = {
    {5, 3}, {2, 9}, {4, 7, {.interpolation = nearest}}, {2, 3, {.antialias = true}}, {1, 8, {.antialias = true}}};

OpSample resize_sample() {
  OpSample sample;
  sample.name = "resize";
  sample.ops = {"interpolate", "interpolate_gradient"};
  sample.cases = static_cast<int>(std::size(resize_cases));
  sample.call = [](Tensors in, int number) {
    const ResizeCase& how = resize_cases[number];
    return std::vector<Tensor>{resize(in[0], {how.height, how.width}, how.options)};
  };
  sample.inputs = [](Random& random, Dtype dtype, int) { return image_inputs(random, dtype, 2, 1); };
  sample.reference = [](Flats in, int number) {
    const ResizeCase& how = resize_cases[number];
    std::vector<Weights> weights;
    for (const auto& [n, m] : {std::pair(in[0].sizes[1], how.height), std::pair(in[0].sizes[2], how.width)}) {
      const double shrinks = std::max(1.0, static_cast<double>(n) / static_cast<double>(m));
      weights.push_back(how.options.interpolation == nearest ? nearest_weights(n, m)
                                                             : linear_weights(n, m, how.options.antialias ? shrinks : 1));
    }
    return std::vector<Flat>{resized(in[0], weights)};
  };
  sample.f32 = {1e-5, 1e-5};
  sample.same_bits = false;  // of the products that smooth
  sample.differentiable = {0};
  sample.second_order = true;
  sample.wrong = {
      wrong<ShapeError>([] { return resize(ones({2, 5, 3}), {4, 4}); },
                        {"resize: the images have rank 3", "[batch, height, width, channels]"}),
      wrong<ShapeError>([] { return resize(ones({2, 5, 5, 3}), {4}); }, {"resize: there are 1 sizes", "a height and a width"}),
      wrong<ShapeError>([] { return resize(ones({2, 0, 5, 3}), {4, 4}); },
                        {"resize: there is no pixel to take values from", "images of at least one pixel"}),
      wrong<ShapeError>([] { return resize(ones({2, 5, 5, 3}), {-1, 4}); }, {"resize: the sizes are [-1, 4]", "sizes of at least 0"}),
  };
  return sample;
}

const PerAxis factors[] = {2, {2, 3}, {1, 3, 2}, {3, 2}};
int axes_of(int number) { return number == 0 ? 1 : number == 2 ? 3 : 2; }

OpSample upsample_sample() {
  OpSample sample;
  sample.name = "upsample";
  sample.cases = static_cast<int>(std::size(factors));
  const auto interpolation = [](int number) { return number == 3 ? Interpolation::Bilinear : nearest; };
  sample.call = [=](Tensors in, int number) { return std::vector<Tensor>{upsample(in[0], factors[number], interpolation(number))}; };
  sample.inputs = [=](Random& random, Dtype dtype, int number) {
    return image_inputs(random, dtype, axes_of(number), interpolation(number) == nearest ? 0 : 1);
  };
  sample.reference = [=](Flats in, int number) {
    std::vector<Weights> weights;
    const std::vector<int64_t> times = factors[number].along(axes_of(number), "", "");
    for (size_t axis = 0; axis < times.size(); ++axis) {
      const int64_t n = in[0].sizes[axis + 1], m = n * times[axis];
      weights.push_back(interpolation(number) == nearest ? nearest_weights(n, m) : linear_weights(n, m, 1));
    }
    return std::vector<Flat>{resized(in[0], weights)};
  };
  sample.f32 = {1e-5, 1e-5};
  sample.differentiable = {0};
  sample.second_order = true;
  sample.wrong = {
      wrong<ArgumentError>([] { return upsample(ones({2, 5, 5, 3}), {2, 2, 2}); }, {"upsample: the factor is [2, 2, 2]"}),
      wrong<ArgumentError>([] { return upsample(ones({2, 5, 5, 3}), 0); }, {"upsample: the factor is 0; expected at least 1"}),
      wrong<ShapeError>([] { return upsample(ones({2, 5}), 2); }, {"upsample: x has rank 2"}),
  };
  return sample;
}

const Padding ends[] = {1, {{1, 2}, {0, 1}}, {0, 2, 1}, Padding(std::vector<Padding::Ends>{{2, 0}})};

// Zeros around, or the opposite.
OpSample border_sample(const std::string& name, Tensor (*op)(const Tensor&, const Padding&), int64_t sign) {
  const auto axes = [](int number) { return number == 3 ? 1 : number == 2 ? 3 : 2; };
  OpSample sample;
  sample.name = name;
  sample.cases = static_cast<int>(std::size(ends));
  sample.dtypes = {f32, f64, i32, u8};
  sample.call = [=](Tensors in, int number) { return std::vector<Tensor>{op(in[0], ends[number])}; };
  sample.inputs = [=](Random& random, Dtype dtype, int number) { return image_inputs(random, dtype, axes(number), sign > 0 ? 0 : 4); };
  sample.reference = [=](Flats in, int number) {
    const std::vector<Padding::Ends> around = ends[number].along(axes(number), "");
    Sizes sizes = in[0].sizes;
    for (size_t axis = 0; axis < around.size(); ++axis) sizes[axis + 1] += sign * (around[axis].first + around[axis].second);
    return std::vector<Flat>{flat_from(in[0].dtype, sizes, [&](Sizes index) {
      for (size_t axis = 0; axis < around.size(); ++axis) {
        index[axis + 1] -= sign * around[axis].first;
        if (index[axis + 1] < 0 || index[axis + 1] >= in[0].sizes[axis + 1]) return 0.0;
      }
      return in[0].values[static_cast<size_t>(ravel(index, in[0].sizes))];
    })};
  };
  sample.differentiable = {0};
  sample.second_order = true;
  const std::string what = sign > 0 ? "padding" : "cropping";
  sample.wrong = {
      wrong<ArgumentError>([=] { return op(ones({2, 5, 5, 3}), "same"); }, {name + ": " + what + " is \"same\"", "expected numbers"}),
      wrong<ArgumentError>([=] { return op(ones({2, 5, 5, 3}), {1, 2, 3}); }, {name + ": padding is [1, 2, 3]"}),
      wrong<ArgumentError>([=] { return op(ones({2, 5, 5, 3}), -1); }, {name + ": padding is -1; expected at least 0"}),
      wrong<ShapeError>([=] { return op(ones({2, 5}), 1); }, {name + ": x has rank 2"}),
  };
  if (sign < 0)
    sample.wrong.push_back(
        wrong<ShapeError>([=] { return op(ones({2, 5, 3, 3}), 2); }, {"crop: range 2:1 along axis 2: x is f32[2, 5, 3, 3]"}));
  return sample;
}

}  // namespace

std::vector<OpSample> resize_samples() {
  return {resize_sample(), upsample_sample(), border_sample("zero_pad", zero_pad, 1), border_sample("crop", crop, -1)};
}

}  // namespace anyshape::check
