// Samples of ops whose results have data-dependent sizes.
#include "check/op_samples.h"
#include "graph/bind.h"
#include "ops/all_ops.h"

#include <anyshape/ops.h>

#include <cmath>
#include <map>

namespace anyshape::check {
namespace {

const Domain some_zeros{.infinities = false, .nan = false, .extremes = false, .exact = {0, 0, 1, 1, 2, -1}};

struct MaskCase {
  int rank, mask_rank;
};
constexpr MaskCase mask_cases[] = {{1, 1}, {2, 1}, {2, 2}, {3, 2}};

OpSample boolean_mask_sample() {
  OpSample sample;
  sample.name = "boolean_mask";
  sample.ops = {"boolean_mask"};
  sample.dtypes = {f32, f64, i32, i64, u8, b8};
  sample.cases = static_cast<int>(std::size(mask_cases));
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    const Sizes sizes = random.sizes(mask_cases[number].rank);
    const Sizes masked(sizes.begin(), sizes.begin() + mask_cases[number].mask_rank);
    return std::vector<InputPlan>{{sizes, dtype, {}}, {masked, b8, {}}};
  };
  sample.call = [](Tensors in, int) { return std::vector<Tensor>{boolean_mask(in[0], in[1])}; };
  sample.reference = [](Flats in, int number) {
    const auto mask_rank = static_cast<std::ptrdiff_t>(mask_cases[number].mask_rank);
    Sizes sizes(in[0].sizes.begin() + mask_rank, in[0].sizes.end());
    const int64_t row = count_of(sizes);
    Flat result{in[0].dtype, {}, {}};
    int64_t kept = 0;
    for (int64_t i = 0; i < in[1].count(); ++i) {
      if (in[1].values[static_cast<size_t>(i)] == 0) continue;
      ++kept;
      for (int64_t j = 0; j < row; ++j) result.values.push_back(in[0].values[static_cast<size_t>(i * row + j)]);
    }
    sizes.insert(sizes.begin(), kept);
    result.sizes = std::move(sizes);
    return std::vector<Flat>{std::move(result)};
  };
  sample.differentiable = {0};
  sample.second_order = true;
  sample.wrong = {
      wrong<DtypeError>([] { return boolean_mask(ones({2}), tensor({1, 0})); }, {"boolean_mask: the mask is i32", "expected b8"}),
      wrong<ShapeError>([] { return boolean_mask(ones({3, 2}), tensor({true, false})); },
                        {"boolean_mask: the mask does not fit", "f32[3, 2]", "b8[2]"}),
      wrong<ShapeError>([] { return boolean_mask(ones({3}), cast(ones({3, 1}), b8)); }, {"boolean_mask: the mask has more axes"}),
      wrong<ShapeError>([] { return boolean_mask(ones({3}), Tensor(true)); }, {"boolean_mask: the mask is a scalar"}),
  };
  return sample;
}

OpSample nonzero_sample(bool condition) {
  OpSample sample;
  sample.name = condition ? "where of a condition" : "nonzero";
  if (!condition) sample.ops = {"nonzero"};
  sample.dtypes = condition ? std::vector<Dtype>{b8} : std::vector<Dtype>{f32, f64, i32, i64, u8, b8};
  sample.cases = 3;
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    return std::vector<InputPlan>{{random.sizes(number + 1), dtype, some_zeros}};
  };
  sample.call = [condition](Tensors in, int) { return std::vector<Tensor>{condition ? where(in[0]) : nonzero(in[0])}; };
  sample.reference = [](Flats in, int) {
    Flat result{i32, {0, in[0].rank()}, {}};
    for (int64_t i = 0; i < in[0].count(); ++i) {
      if (in[0].values[static_cast<size_t>(i)] == 0) continue;
      ++result.sizes[0];
      for (const int64_t index : unravel(i, in[0].sizes)) result.values.push_back(static_cast<double>(index));
    }
    return std::vector<Flat>{std::move(result)};
  };
  if (condition) {
    sample.wrong = {
        wrong<ShapeError>([] { return where(Tensor(true)); }, {"where: a scalar has no indices"}),
        wrong<ArgumentError>([] { return where(Tensor()); }, {"where", "expected a tensor with a value"}),
        wrong<DtypeError>([] { return where(ones({2})); }, {"where: the condition has another dtype", "f32[2]", "expected b8"}),
    };
  } else {
    sample.wrong = {
        wrong<ShapeError>([] { return nonzero(1.0F); }, {"nonzero: a scalar has no indices", "at least one axis"}),
        wrong<ShapeError>([] { return nonzero(sum(ones({2}))); }, {"nonzero: a scalar has no indices", "f32[]"}),
        wrong<ArgumentError>([] { return nonzero(Tensor()); }, {"nonzero", "expected a tensor with a value"}),
    };
  }
  return sample;
}

OpSample unique_sample() {
  OpSample sample;
  sample.name = "unique";
  sample.ops = {"unique"};
  sample.dtypes = {f32, f64, i32, i64, u8, b8};
  sample.cases = 4;
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    return std::vector<InputPlan>{{random.sizes(number), dtype, {.zeros = false, .exact = {0, 0, 1, 1, 2, 2, -1}}}};
  };
  sample.call = [](Tensors in, int) {
    const Unique found = unique(in[0], {.return_inverse = true, .return_counts = true});
    return std::vector<Tensor>{found.values, found.inverse, found.counts};
  };
  sample.reference = [](Flats in, int) {
    // NaN is one value, above all others.
    const auto before = [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
    std::map<double, int64_t, decltype(before)> counts(before);
    for (const double value : in[0].values) ++counts[value];
    const auto size = static_cast<int64_t>(counts.size());
    Flat values{in[0].dtype, {size}, {}}, inverse{i32, in[0].sizes, {}}, often{i32, {size}, {}};
    for (const auto& [value, count] : counts) {
      values.values.push_back(value);
      often.values.push_back(static_cast<double>(count));
    }
    for (const double value : in[0].values)
      inverse.values.push_back(static_cast<double>(std::distance(counts.begin(), counts.find(value))));
    return std::vector<Flat>{values, inverse, often};
  };
  sample.wrong = {
      wrong<ArgumentError>([] { return unique(Tensor()); }, {"unique", "expected a tensor with a value"}),
      wrong<ArgumentError>([] { return unique(Tensor(), {.return_counts = true}).counts; }, {"unique", "expected a tensor with a value"}),
      wrong<ShapeError>([] { return bind(unique_op, {ones({2, 3})}); }, {"unique: the sorted values are no vector", "f32[2, 3]"}),
  };
  return sample;
}

}  // namespace

std::vector<OpSample> data_samples() { return {boolean_mask_sample(), nonzero_sample(false), nonzero_sample(true), unique_sample()}; }

}  // namespace anyshape::check
