// Samples of scatter_update: a case for each mode, and one with two components.
#include "check/op_samples.h"

#include <anyshape/ops.h>
#include <anyshape/ops/scatter.h>

#include <algorithm>

namespace anyshape::check {
namespace {

constexpr ScatterMode modes[] = {ScatterMode::Set, ScatterMode::Add, ScatterMode::Multiply, ScatterMode::Minimum, ScatterMode::Maximum};
ScatterMode mode_of(int number) { return modes[number % 5]; }
bool has_two_components(int number) { return number >= 5; }

double combined(ScatterMode mode, double old, double update) {
  switch (mode) {
    case ScatterMode::Set: return update;
    case ScatterMode::Add: return old + update;
    case ScatterMode::Multiply: return old * update;
    case ScatterMode::Minimum: return std::min(old, update);
    case ScatterMode::Maximum: return std::max(old, update);
  }
  return update;
}

std::vector<InputPlan> inputs(Random& random, Dtype dtype, int number) {
  // Products stay near 1, and small in integers.
  const bool multiplies = mode_of(number) == ScatterMode::Multiply;
  const Domain numbers = !multiplies          ? ordinary_numbers
                         : is_floating(dtype) ? Domain{.low = 0.6, .high = 1.4, .zeros = false, .infinities = false, .nan = false, .extremes = false}
                                              : Domain{.low = -1, .high = 1};
  const Sizes sizes = random.sizes(3);
  const bool is_empty = sizes[0] == 0 || (has_two_components(number) && sizes[1] == 0);
  const int64_t count = is_empty ? 0 : std::min<int64_t>(random.size(), 17);
  const auto rows = static_cast<double>(sizes[0]), columns = static_cast<double>(sizes[1]);
  Sizes updates = {count, sizes[1], sizes[2]};
  if (has_two_components(number)) updates.erase(updates.begin() + 1);
  return {{sizes, dtype, numbers}, {{count}, i32, {.low = -rows, .high = rows - 1}}, {{count}, i32, {.low = -columns, .high = columns - 1}}, {updates, dtype, numbers}};
}

Tensor indices_of(Tensors in, int number) {
  return has_two_components(number) ? stack({in[1], in[2]}, {.axis = -1}) : expand_dims(in[1], 1);
}

std::vector<Flat> reference(Flats in, int number) {
  Flat result = in[0];
  const auto from_start = [](double index, int64_t size) { return static_cast<int64_t>(index) + (index < 0 ? size : 0); };
  for (int64_t i = 0; i < in[3].count(); ++i) {
    const Sizes at = unravel(i, in[3].sizes);
    Sizes to = {from_start(in[1].values[static_cast<size_t>(at[0])], result.sizes[0])};
    if (has_two_components(number)) to.push_back(from_start(in[2].values[static_cast<size_t>(at[0])], result.sizes[1]));
    to.insert(to.end(), at.begin() + 1, at.end());
    double& element = result.values[static_cast<size_t>(ravel(to, result.sizes))];
    element = combined(mode_of(number), element, in[3].values[static_cast<size_t>(i)]);
  }
  return {std::move(result)};
}

}  // namespace

std::vector<OpSample> scatter_samples() {
  OpSample sample;
  sample.name = "scatter_update";
  sample.ops = {"scatter_update"};
  sample.dtypes = {f32, f64, i32};
  sample.cases = 6;
  sample.inputs = inputs;
  sample.call = [](Tensors in, int number) {
    return std::vector<Tensor>{scatter_update(in[0], indices_of(in, number), in[3], {.mode = mode_of(number)})};
  };
  sample.reference = reference;
  sample.f32 = {2e-6, 1e-5};
  sample.differentiable = {0, 3};
  sample.wrong = {
      wrong<ShapeError>([] { return scatter_update(ones({3}), tensor({{0}}), ones({2})); },
                        {"scatter_update: updates do not fit the indices and x", "f32[3]", "f32[2]"}),
      wrong<ShapeError>([] { return scatter_update(ones({3}), tensor({{0, 0}}), ones({1})); }, {"scatter_update: an index has 2 components for rank 1"}),
      wrong<DataError>([] { return scatter_update(ones({3}), tensor({{3}}), ones({1})); }, {"scatter_update", "3"}),
      wrong<DtypeError>([] { return scatter_update(ones({3}), tensor({{0.5F}}), ones({1})); }, {"scatter_update: indices are f32"}),
      wrong<DtypeError>([] { return scatter_update(ones({3}, {.dtype = b8}), tensor({{0}}), ones({1}, {.dtype = b8}), {.mode = ScatterMode::Add}); },
                        {"scatter_update: truth values are not combined"}),
  };
  return {sample};
}

}  // namespace anyshape::check
