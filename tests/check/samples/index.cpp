// Samples of ops whose indices are data.
#include "check/op_samples.h"

#include <anyshape/ops.h>

namespace anyshape::check {
namespace {

struct TakeCase {
  int rank, index_rank;
  int64_t axis;
};
constexpr TakeCase take_cases[] = {{1, 1, 0}, {2, 1, 0}, {2, 2, -1}, {3, 0, 1}, {3, 2, 1}, {4, 1, -2}};

OpSample take_sample(Dtype index_dtype) {
  OpSample sample;
  sample.name = "take by " + std::string(to_string(index_dtype));
  sample.ops = {"take"};
  sample.dtypes = {f32, f64, i32, u8, b8};
  sample.cases = static_cast<int>(std::size(take_cases));
  sample.inputs = [index_dtype](Random& random, Dtype dtype, int number) {
    const TakeCase how = take_cases[number];
    random.elements = std::min<int64_t>(random.elements, 400);
    const Sizes sizes = random.sizes(how.rank);
    const auto size = static_cast<double>(sizes[static_cast<size_t>(how.axis < 0 ? how.axis + how.rank : how.axis)]);
    Sizes index_sizes = random.sizes(how.index_rank);
    for (int64_t& each : index_sizes) each = std::min<int64_t>(each, 8);
    // Nothing can be taken from nothing; a rank of 0 asks for one element, so there must be one.
    if (size == 0 && how.index_rank > 0) index_sizes[0] = 0;
    Sizes some = sizes;
    if (how.index_rank == 0) some[1] = std::max<int64_t>(some[1], 1);
    const double limit = how.index_rank == 0 ? static_cast<double>(some[1]) : size;
    return std::vector<InputPlan>{{some, dtype, {}}, {index_sizes, index_dtype, {.low = -limit, .high = limit - 1}}};
  };
  sample.call = [](Tensors in, int number) { return std::vector<Tensor>{take(in[0], in[1], {.axis = take_cases[number].axis})}; };
  sample.reference = [](Flats in, int number) {
    const TakeCase how = take_cases[number];
    const auto axis = static_cast<size_t>(how.axis < 0 ? how.axis + how.rank : how.axis);
    const auto width = static_cast<std::ptrdiff_t>(in[1].sizes.size());
    Sizes sizes(in[0].sizes.begin(), in[0].sizes.begin() + static_cast<std::ptrdiff_t>(axis));
    sizes.insert(sizes.end(), in[1].sizes.begin(), in[1].sizes.end());
    sizes.insert(sizes.end(), in[0].sizes.begin() + static_cast<std::ptrdiff_t>(axis) + 1, in[0].sizes.end());
    return std::vector<Flat>{flat_from(in[0].dtype, sizes, [&](const Sizes& index) {
      const auto middle = index.begin() + static_cast<std::ptrdiff_t>(axis);
      const auto taken = static_cast<int64_t>(in[1].values[static_cast<size_t>(ravel({middle, middle + width}, in[1].sizes))]);
      Sizes from(index.begin(), middle);
      from.push_back(taken < 0 ? taken + in[0].sizes[axis] : taken);
      from.insert(from.end(), middle + width, index.end());
      return in[0].values[static_cast<size_t>(ravel(from, in[0].sizes))];
    })};
  };
  sample.differentiable = {0};
  sample.second_order = true;
  sample.wrong = {
      wrong<DataError>([] { return take(ones({2, 3}), tensor({0, 2})); }, {"take", "2"}),
      wrong<DataError>([] { return take(ones({2, 3}), tensor({-3})); }, {"take", "-3"}),
      wrong<DataError>([] { return take(ones({0}), tensor({0})); }, {"take"}),
      wrong<DtypeError>([] { return take(ones({2, 3}), tensor({0.5F})); }, {"take: indices are f32", "i32 or i64"}),
      wrong<ShapeError>([] { return take(ones({2, 3}), tensor({0}), {.axis = 2}); }, {"take: axis 2 is outside the rank 2"}),
  };
  return sample;
}

double at(const Flat& x, const Sizes& index) { return x.values[static_cast<size_t>(ravel(index, x.sizes))]; }
int64_t counted_from_end(double index, int64_t size) { return static_cast<int64_t>(index) + (index < 0 ? size : 0); }

constexpr TakeCase along_axis_cases[] = {{1, 1, 0}, {2, 2, -1}, {3, 3, 1}};

OpSample take_along_axis_sample() {
  OpSample sample;
  sample.name = "take_along_axis";
  sample.ops = {"take_along_axis"};
  sample.dtypes = {f32, f64, i32, u8, b8};
  sample.cases = static_cast<int>(std::size(along_axis_cases));
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    const TakeCase how = along_axis_cases[number];
    const auto axis = static_cast<size_t>(how.axis < 0 ? how.axis + how.rank : how.axis);
    const Sizes sizes = random.sizes(how.rank);
    Sizes index_sizes = sizes;
    index_sizes[axis] = sizes[axis] == 0 ? 0 : std::min<int64_t>(random.size(), 8);
    const auto limit = static_cast<double>(sizes[axis]);
    return std::vector<InputPlan>{{sizes, dtype, {}}, {index_sizes, number == 1 ? i64 : i32, {.low = -limit, .high = limit - 1}}};
  };
  sample.call = [](Tensors in, int number) {
    return std::vector<Tensor>{take_along_axis(in[0], in[1], {.axis = along_axis_cases[number].axis})};
  };
  sample.reference = [](Flats in, int number) {
    const TakeCase how = along_axis_cases[number];
    const auto axis = static_cast<size_t>(how.axis < 0 ? how.axis + how.rank : how.axis);
    return std::vector<Flat>{flat_from(in[0].dtype, in[1].sizes, [&](Sizes index) {
      index[axis] = counted_from_end(at(in[1], index), in[0].sizes[axis]);
      return at(in[0], index);
    })};
  };
  sample.differentiable = {0};
  sample.second_order = true;
  sample.wrong = {
      wrong<ShapeError>([] { return take_along_axis(ones({2, 3}), tensor({0})); }, {"take_along_axis: ranks differ", "f32[2, 3]"}),
      wrong<ShapeError>([] { return take_along_axis(ones({2, 3}), tensor({{0}})); }, {"take_along_axis: sizes of axis 0 differ"}),
      wrong<DataError>([] { return take_along_axis(ones({3}), tensor({3})); }, {"take_along_axis", "3"}),
      wrong<DtypeError>([] { return take_along_axis(ones({3}), tensor({0.5F})); }, {"take_along_axis: indices are f32"}),
  };
  return sample;
}

// Two vectors of indices become [k, 2]: the number of components is a constant whatever k is.
Tensor pairs(const Tensor& rows, const Tensor& columns) { return stack({rows, columns}, {.axis = -1}); }

std::vector<InputPlan> pair_inputs(Random& random, Dtype dtype, bool with_updates) {
  const Sizes sizes = random.sizes(3);
  const int64_t count = sizes[0] * sizes[1] == 0 ? 0 : std::min<int64_t>(random.size(), 17);
  std::vector<InputPlan> plans = {{sizes, dtype, ordinary_numbers}};
  for (const size_t axis : {0, 1}) {
    const auto limit = static_cast<double>(sizes[axis]);
    plans.push_back({{count}, i32, {.low = -limit, .high = limit - 1}});
  }
  if (with_updates) plans.push_back({{count, sizes[2]}, dtype, ordinary_numbers});
  return plans;
}

OpSample gather_nd_sample() {
  OpSample sample;
  sample.name = "gather_nd";
  sample.ops = {"gather_nd"};
  sample.dtypes = {f32, f64, i32, u8, b8};
  sample.inputs = [](Random& random, Dtype dtype, int) { return pair_inputs(random, dtype, false); };
  sample.call = [](Tensors in, int) { return std::vector<Tensor>{gather_nd(in[0], pairs(in[1], in[2]))}; };
  sample.reference = [](Flats in, int) {
    return std::vector<Flat>{flat_from(in[0].dtype, {in[1].sizes[0], in[0].sizes[2]}, [&](const Sizes& index) {
      const auto k = static_cast<size_t>(index[0]);
      return at(in[0], {counted_from_end(in[1].values[k], in[0].sizes[0]), counted_from_end(in[2].values[k], in[0].sizes[1]), index[1]});
    })};
  };
  sample.differentiable = {0};
  sample.second_order = true;
  sample.wrong = {
      wrong<ShapeError>([] { return gather_nd(ones({2}), tensor({{0, 0}})); }, {"gather_nd: an index has 2 components for rank 1"}),
      wrong<DataError>([] { return gather_nd(ones({2, 2}), tensor({{0, 2}})); }, {"gather_nd"}),
      wrong<DtypeError>([] { return gather_nd(ones({2, 2}), tensor({{0.5F, 1.0F}})); }, {"gather_nd: indices are f32"}),
  };
  return sample;
}

Flat scattered(Flat result, Flats in) {
  for (int64_t k = 0; k < in[1].sizes[0]; ++k) {
    for (int64_t column = 0; column < result.sizes[2]; ++column) {
      const Sizes to = {counted_from_end(in[1].values[static_cast<size_t>(k)], result.sizes[0]),
                        counted_from_end(in[2].values[static_cast<size_t>(k)], result.sizes[1]), column};
      result.values[static_cast<size_t>(ravel(to, result.sizes))] += at(in[3], {k, column});
    }
  }
  return result;
}

OpSample scatter_sample(bool add) {
  OpSample sample;
  sample.name = add ? "scatter_add" : "scatter";
  if (!add) sample.ops = {"scatter"};
  sample.dtypes = {f32, f64, i32, u8};
  sample.inputs = [](Random& random, Dtype dtype, int) { return pair_inputs(random, dtype, true); };
  sample.call = [add](Tensors in, int) {
    const Tensor indices = pairs(in[1], in[2]);
    return std::vector<Tensor>{add ? scatter_add(in[0], indices, in[3]) : scatter(indices, in[3], in[0].shape())};
  };
  sample.reference = [add](Flats in, int) {
    return std::vector<Flat>{scattered(add ? in[0] : flat_from(in[0].dtype, in[0].sizes, [](const Sizes&) { return 0.0; }), in)};
  };
  sample.f32 = {1e-6, 1e-5};
  sample.differentiable = add ? std::vector{0, 3} : std::vector{3};
  sample.second_order = true;
  const std::string name = add ? "scatter_add" : "scatter";
  sample.wrong = {
      wrong<ShapeError>([add] { return add ? scatter_add(ones({3}), tensor({{0}}), ones({2})) : scatter(tensor({{0}}), ones({2}), {3}); },
                        {name + ": updates do not fit the indices and [3]"}),
      wrong<DataError>([add] { return add ? scatter_add(ones({3}), tensor({{3}}), ones({1})) : scatter(tensor({{3}}), ones({1}), {3}); },
                       {"scatter", "3"}),
      wrong<DtypeError>(
          [add] { return add ? scatter_add(ones({3}), tensor({{0.5F}}), ones({1})) : scatter(tensor({{0.5F}}), ones({1}), {3}); },
          {name + ": indices are f32"}),
  };
  return sample;
}

OpSample one_hot_sample() {
  OpSample sample;
  sample.name = "one_hot";
  sample.ops = {"one_hot"};
  sample.dtypes = {i32, i64, u8};
  sample.cases = 3;
  // The second input's size is the number of classes in the last case.
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    random.elements = std::min<int64_t>(random.elements, 300);
    return std::vector<InputPlan>{{random.sizes(number), dtype, {.low = -2, .high = 9}}, {random.sizes(1), f32, {}}};
  };
  sample.call = [](Tensors in, int number) {
    const Dim classes = number == 2 ? in[1].shape()[0] : Dim(5);
    return std::vector<Tensor>{one_hot(in[0], classes, {.axis = number == 1 ? 0 : -1, .dtype = number == 1 ? i32 : f32})};
  };
  sample.reference = [](Flats in, int number) {
    Sizes sizes = in[0].sizes;
    const int64_t axis = number == 1 ? 0 : static_cast<int64_t>(sizes.size());
    sizes.insert(sizes.begin() + axis, number == 2 ? in[1].sizes[0] : 5);
    return std::vector<Flat>{flat_from(number == 1 ? i32 : f32, sizes, [&](Sizes index) {
      const auto which = static_cast<double>(index[static_cast<size_t>(axis)]);
      index.erase(index.begin() + axis);
      return at(in[0], index) == which ? 1.0 : 0.0;
    })};
  };
  sample.wrong = {
      wrong<DtypeError>([] { return one_hot(tensor({0.5F}), 3); }, {"one_hot: indices are f32"}),
      wrong<ShapeError>([] { return one_hot(tensor({0}), -1); }, {"one_hot: the number of classes is -1"}),
      wrong<ShapeError>([] { return one_hot(tensor({0}), 3, {.axis = 2}); }, {"one_hot: axis 2 is outside the rank 2"}),
  };
  return sample;
}

}  // namespace

std::vector<OpSample> index_samples() {
  return {take_sample(i32),      take_sample(i64),     take_along_axis_sample(), gather_nd_sample(),
          scatter_sample(false), scatter_sample(true), one_hot_sample()};
}

}  // namespace anyshape::check
