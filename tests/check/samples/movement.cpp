// Samples of ops that put elements elsewhere: the reference says from which index of x an element comes.
#include "check/op_samples.h"

#include <anyshape/function.h>
#include <anyshape/ops.h>

#include <algorithm>

namespace anyshape::check {
namespace {

double at(const Flat& x, const Sizes& index) { return x.values[static_cast<size_t>(ravel(index, x.sizes))]; }

OpSample movement_sample(const std::string& name, int cases) {
  OpSample sample;
  sample.name = name;
  sample.ops = {name};
  sample.dtypes = {f32, f64, i32, u8, b8};
  sample.cases = cases;
  sample.differentiable = {0};
  sample.second_order = true;
  return sample;
}

OpSample reshape_sample() {
  OpSample sample = movement_sample("reshape", 5);
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    constexpr int ranks[] = {2, 3, 1, 4, 0};
    return std::vector<InputPlan>{{random.sizes(ranks[number]), dtype, {}}};
  };
  // Flattened, two axes joined, one added, by -1 alone, and with a size left open.
  sample.call = [](Tensors in, int number) -> std::vector<Tensor> {
    const Tensor& x = in[0];
    const Shape from = x.shape();
    switch (number) {
      case 0: return {reshape(x, {from[0] * from[1]})};
      case 1: return {reshape(x, {from[0], from[1] * from[2]})};
      case 2: return {reshape(x, {1, from[0], 1})};
      case 3: return {reshape(x, {-1})};
      default: return {reshape(x, {1, 1})};
    }
  };
  sample.reference = [](Flats in, int number) {
    const Flat& x = in[0];
    const auto n = [&](size_t axis) { return x.sizes[axis]; };
    Flat result = x;
    switch (number) {
      case 0: result.sizes = {n(0) * n(1)}; break;
      case 1: result.sizes = {n(0), n(1) * n(2)}; break;
      case 2: result.sizes = {1, n(0), 1}; break;
      case 3: result.sizes = {x.count()}; break;
      default: result.sizes = {1, 1};
    }
    return std::vector<Flat>{result};
  };
  sample.wrong = {
      wrong<ShapeError>([] { return reshape(ones({2, 3}), {4}); }, {"reshape: cannot reshape to [4]", "f32[2, 3]"}),
      wrong<ShapeError>([] { return reshape(ones({2, 3}), {-1, -1}); }, {"leaves 2 sizes open", "at most one -1"}),
      wrong<ShapeError>([] { return reshape(ones({2, 3}), {-1, 0}); }, {"has a -1 beside a size of 0"}),
      wrong<ShapeError>([] { return reshape(ones({2, 3}), {-2, -3}); }, {"reshape", "sizes of at least 0"}),
      wrong<ShapeError>([] { return reshape(ones({2, 3}), {-1, 4}); }, {"reshape: cannot reshape to"}),
  };
  return sample;
}

const std::vector<std::vector<int64_t>>& permutations() {
  static const std::vector<std::vector<int64_t>> all = {{},         {0},          {1, 0},          {0, 2, 1},
                                                        {-1, 0, 1}, {3, 1, 0, 2}, {4, 3, 2, 1, 0}, {7, 0, 6, 1, 5, 2, 4, 3}};
  return all;
}

OpSample transpose_sample() {
  OpSample sample = movement_sample("transpose", static_cast<int>(permutations().size()));
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    return std::vector<InputPlan>{{random.sizes(static_cast<int>(permutations()[static_cast<size_t>(number)].size())), dtype, {}}};
  };
  sample.call = [](Tensors in, int number) { return std::vector<Tensor>{transpose(in[0], permutations()[static_cast<size_t>(number)])}; };
  sample.reference = [](Flats in, int number) {
    std::vector<int64_t> permutation = permutations()[static_cast<size_t>(number)];
    Sizes sizes;
    for (int64_t& axis : permutation) {
      axis = axis < 0 ? axis + in[0].rank() : axis;
      sizes.push_back(in[0].sizes[static_cast<size_t>(axis)]);
    }
    return std::vector<Flat>{flat_from(in[0].dtype, sizes, [&](const Sizes& index) {
      Sizes from(index.size());
      for (size_t axis = 0; axis < index.size(); ++axis) from[static_cast<size_t>(permutation[axis])] = index[axis];
      return at(in[0], from);
    })};
  };
  sample.wrong = {
      wrong<ShapeError>([] { return transpose(ones({2, 3}), {0}); }, {"transpose: permutation [0] has 1 axes", "f32[2, 3]"}),
      wrong<ShapeError>([] { return transpose(ones({2, 3}), {0, 0}); }, {"names axis 0 twice", "f32[2, 3]"}),
      wrong<ShapeError>([] { return transpose(ones({2, 3}), {0, 2}); }, {"transpose: axis 2 is outside the rank 2"}),
  };
  return sample;
}

OpSample broadcast_to_sample() {
  OpSample sample = movement_sample("broadcast_to", 5);
  // The second input is there for its shape.
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    constexpr int ranks[][2] = {{2, 2}, {1, 3}, {0, 1}, {3, 3}, {2, 4}};
    const Sizes target = random.sizes(ranks[number][1]);
    Sizes from(target.end() - ranks[number][0], target.end());
    for (int64_t& size : from) size = random.chance(40) ? 1 : size;
    return std::vector<InputPlan>{{from, dtype, {}}, {target, f32, {}}};
  };
  sample.call = [](Tensors in, int) { return std::vector<Tensor>{broadcast_to(in[0], in[1].shape())}; };
  sample.reference = [](Flats in, int) {
    return std::vector<Flat>{flat_from(in[0].dtype, in[1].sizes, [&](const Sizes& index) { return broadcast_at(in[0], index); })};
  };
  sample.wrong = {
      wrong<ShapeError>([] { return broadcast_to(ones({2}), {3}); }, {"broadcast_to: cannot broadcast to [3]", "f32[2]"}),
      wrong<ShapeError>([] { return broadcast_to(ones({2, 1}), {2}); }, {"broadcast_to: cannot broadcast to [2]", "f32[2, 1]"}),
      wrong<ShapeError>([] { return broadcast_to(ones({1}), {-1}); }, {"broadcast_to", "sizes of at least 0"}),
  };
  return sample;
}

struct SliceCase {
  int rank;
  std::vector<SliceRange> ranges;
};
const std::vector<SliceCase>& slice_cases() {
  static const std::vector<SliceCase> cases = {
      {1, {{1}}}, {1, {{0, -1}}}, {2, {{0, 5}, {-3, -1}}}, {3, {{2, 2}}}, {2, {{3, 1}}}, {3, {{}, {1, 100}, {-100, 100}}}, {0, {}},
  };
  return cases;
}

// NumPy's rule for a range without a step.
std::pair<int64_t, int64_t> bounds(const SliceRange& range, int64_t size) {
  const auto clamped = [&](int64_t bound) { return std::clamp<int64_t>(bound < 0 ? bound + size : bound, 0, size); };
  const int64_t begin = range.begin ? clamped(range.begin->value()) : 0, end = range.end ? clamped(range.end->value()) : size;
  return {begin, std::max(begin, end)};
}

OpSample slice_sample() {
  OpSample sample = movement_sample("slice", static_cast<int>(slice_cases().size()));
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    return std::vector<InputPlan>{{random.sizes(slice_cases()[static_cast<size_t>(number)].rank), dtype, {}}};
  };
  sample.call = [](Tensors in, int number) { return std::vector<Tensor>{slice(in[0], slice_cases()[static_cast<size_t>(number)].ranges)}; };
  sample.reference = [](Flats in, int number) {
    const std::vector<SliceRange>& ranges = slice_cases()[static_cast<size_t>(number)].ranges;
    Sizes sizes = in[0].sizes, begins(sizes.size(), 0);
    for (size_t axis = 0; axis < ranges.size(); ++axis) {
      const auto [begin, end] = bounds(ranges[axis], sizes[axis]);
      begins[axis] = begin;
      sizes[axis] = end - begin;
    }
    return std::vector<Flat>{flat_from(in[0].dtype, sizes, [&](Sizes index) {
      for (size_t axis = 0; axis < index.size(); ++axis) index[axis] += begins[axis];
      return at(in[0], index);
    })};
  };
  sample.wrong = {
      wrong<ShapeError>([] { return slice(ones({3}), {{0, 1}, {0, 1}}); }, {"slice: 2 ranges for 1 axes", "f32[3]"}),
      wrong<ShapeError>([] { return slice(1.0F, {{0, 1}}); }, {"slice: 1 ranges for 0 axes"}),
      wrong<ArgumentError>([] { return slice(Tensor(), {{0, 1}}); }, {"expected a tensor with a value"}),
  };
  return sample;
}

struct ConcatCase {
  int tensors, rank;
  int64_t axis;
};
constexpr ConcatCase concat_cases[] = {{2, 1, 0}, {3, 2, -1}, {2, 2, 0}, {1, 3, 1}, {4, 3, 1}, {20, 2, 1}};

OpSample concat_sample() {
  OpSample sample = movement_sample("concat", static_cast<int>(std::size(concat_cases)));
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    const ConcatCase how = concat_cases[number];
    const Sizes common = random.sizes(how.rank);
    std::vector<InputPlan> plans(static_cast<size_t>(how.tensors), {common, dtype, ordinary_numbers});
    for (InputPlan& plan : plans)
      plan.sizes[static_cast<size_t>(how.axis < 0 ? how.axis + how.rank : how.axis)] = std::min<int64_t>(random.size(), 8);
    return plans;
  };
  sample.call = [](Tensors in, int number) {
    return std::vector<Tensor>{concat({in.begin(), in.end()}, {.axis = concat_cases[number].axis})};
  };
  sample.reference = [](Flats in, int number) {
    const ConcatCase how = concat_cases[number];
    const auto axis = static_cast<size_t>(how.axis < 0 ? how.axis + how.rank : how.axis);
    Sizes sizes = in[0].sizes;
    sizes[axis] = 0;
    for (const Flat& each : in) sizes[axis] += each.sizes[axis];
    return std::vector<Flat>{flat_from(in[0].dtype, sizes, [&](Sizes index) {
      size_t which = 0;
      while (index[axis] >= in[which].sizes[axis]) index[axis] -= in[which++].sizes[axis];
      return at(in[which], index);
    })};
  };
  sample.wrong = {
      wrong<ArgumentError>([] { return concat({}); }, {"concat: got 0 tensors"}),
      wrong<ShapeError>([] { return concat({ones({2}), ones({2, 1})}); }, {"concat: ranks differ", "a is f32[2], b is f32[2, 1]"}),
      wrong<ShapeError>([] { return concat({ones({2, 3}), ones({2, 4})}); }, {"concat: sizes along axis 1 differ", "f32[2, 4]"}),
      wrong<ShapeError>([] { return concat({ones({2})}, {.axis = 1}); }, {"concat: axis 1 is outside the rank 1"}),
  };
  return sample;
}

constexpr int64_t stack_axes[] = {0, -1, 1};

OpSample stack_sample() {
  OpSample sample = movement_sample("stack", 3);
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    const Sizes sizes = random.sizes(number);
    return std::vector<InputPlan>{{sizes, dtype, {}}, {sizes, dtype, {}}, {sizes, dtype, {}}};
  };
  sample.call = [](Tensors in, int number) { return std::vector<Tensor>{stack({in.begin(), in.end()}, {.axis = stack_axes[number]})}; };
  sample.reference = [](Flats in, int number) {
    Sizes sizes = in[0].sizes;
    const int64_t axis = stack_axes[number] < 0 ? stack_axes[number] + in[0].rank() + 1 : stack_axes[number];
    sizes.insert(sizes.begin() + axis, 3);
    return std::vector<Flat>{flat_from(in[0].dtype, sizes, [&](Sizes index) {
      const auto which = static_cast<size_t>(index[static_cast<size_t>(axis)]);
      index.erase(index.begin() + axis);
      return at(in[which], index);
    })};
  };
  sample.differentiable = {0, 1, 2};
  sample.wrong = {
      wrong<ArgumentError>([] { return stack({}); }, {"stack: got 0 tensors"}),
      wrong<ShapeError>([] { return stack({ones({2}), ones({3})}); }, {"stack: sizes along axis 0 differ", "a is f32[2], b is f32[3]"}),
      wrong<ShapeError>([] { return stack({ones({2}), ones({2, 1})}); }, {"stack: ranks differ"}),
      wrong<ShapeError>([] { return stack({ones({2})}, {.axis = 2}); }, {"stack: axis 2 is outside the rank 2"}),
  };
  return sample;
}

// Parts by index, with symbolic bounds; and equal parts.
OpSample split_sample() {
  OpSample sample = movement_sample("split", 2);
  sample.ops.clear();
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    Sizes sizes = random.sizes(2);
    if (number == 1) sizes[1] = 3 * (sizes[1] % 20);
    return std::vector<InputPlan>{{sizes, dtype, {}}};
  };
  sample.call = [](Tensors in, int number) { return number == 0 ? split(in[0], std::vector<Dim>{1, 4}) : split(in[0], 3, {.axis = -1}); };
  sample.reference = [](Flats in, int number) {
    const Flat& x = in[0];
    const int64_t n = x.sizes[0], third = x.sizes[1] / 3;
    const std::vector<int64_t> bounds = number == 0 ? std::vector<int64_t>{0, std::min<int64_t>(1, n), std::min<int64_t>(4, n), n}
                                                    : std::vector<int64_t>{0, third, 2 * third, 3 * third};
    const size_t axis = number == 0 ? 0 : 1;
    std::vector<Flat> parts;
    for (size_t i = 0; i < 3; ++i) {
      Sizes sizes = x.sizes;
      sizes[axis] = bounds[i + 1] - bounds[i];
      parts.push_back(flat_from(x.dtype, sizes, [&](Sizes index) {
        index[axis] += bounds[i];
        return at(x, index);
      }));
    }
    return parts;
  };
  sample.wrong = {
      wrong<ShapeError>([] { return split(ones({4}), 3); }, {"split: size 4 along axis 0 in 3 sections", "f32[4]"}),
      wrong<ShapeError>([] { return split(ones({4}), 0); }, {"split: size 4 along axis 0 in 0 sections"}),
      wrong<ShapeError>([] { return split(ones({4}), 2, {.axis = 1}); }, {"split: axis 1 is outside the rank 1"}),
  };
  return sample;
}

// What unstack takes apart has a known number of parts: here what stack made of two.
OpSample unstack_sample() {
  OpSample sample = movement_sample("unstack", 3);
  sample.ops.clear();
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    const Sizes sizes = random.sizes(number);
    return std::vector<InputPlan>{{sizes, dtype, {}}, {sizes, dtype, {}}};
  };
  sample.call = [](Tensors in, int number) { return unstack(stack({in[0], in[1]}, {.axis = number}), {.axis = -1}); };
  sample.reference = [](Flats in, int) { return std::vector<Flat>(in.begin(), in.end()); };
  sample.differentiable = {0, 1};
  sample.wrong = {
      wrong<ShapeError>([] { return unstack(ones({2}), {.axis = 1}); }, {"unstack: axis 1 is outside the rank 1", "f32[2]"}),
      wrong<ShapeError>([] { return unstack(1.0F); }, {"unstack: axis 0 is outside the rank 0"}),
      wrong<TraceError>([] { return function([](Tensor x) { return unstack(x)[0]; }, {.name = "parts"})(ones({2})); },
                        {"unstack: axis 0 has the size", "expected a constant size"}),
  };
  return sample;
}

OpSample meshgrid_sample() {
  OpSample sample = movement_sample("meshgrid", 2);
  sample.ops.clear();
  sample.inputs = [](Random& random, Dtype dtype, int) {
    return std::vector<InputPlan>{{random.sizes(1), dtype, {}}, {random.sizes(1), dtype, {}}};
  };
  sample.call = [](Tensors in, int number) {
    return meshgrid({in.begin(), in.end()}, {.indexing = number == 0 ? Indexing::IJ : Indexing::XY});
  };
  sample.reference = [](Flats in, int number) {
    const int64_t n = in[0].sizes[0], m = in[1].sizes[0];
    const Sizes sizes = number == 0 ? Sizes{n, m} : Sizes{m, n};
    std::vector<Flat> grids;
    for (size_t k = 0; k < 2; ++k) {
      const size_t along = number == 0 ? k : 1 - k;
      grids.push_back(flat_from(in[k].dtype, sizes, [&](const Sizes& index) { return in[k].values[static_cast<size_t>(index[along])]; }));
    }
    return grids;
  };
  sample.differentiable = {0, 1};
  sample.wrong = {
      wrong<ShapeError>([] { return meshgrid({ones({2, 2}), ones({2})}); }, {"meshgrid: argument 0 is no vector", "f32[2, 2]"}),
      wrong<ShapeError>([] { return meshgrid(std::vector<Tensor>(9, ones({1}))); }, {"meshgrid: 9 vectors span 9 axes"}),
      wrong<ArgumentError>([] { return meshgrid({Tensor(), ones({2})}); }, {"expected a tensor with a value"}),
  };
  return sample;
}

}  // namespace

std::vector<OpSample> movement_samples() {
  return {reshape_sample(), transpose_sample(), broadcast_to_sample(), slice_sample(),   concat_sample(),
          stack_sample(),   split_sample(),     unstack_sample(),      meshgrid_sample()};
}

}  // namespace anyshape::check
