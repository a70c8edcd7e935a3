// What the samples of segment ops share. Splits are made inside the call, of cuts that are drawn anywhere among the values: input 0 is
// x [total, ...], input 1 the cuts [rows - 1]. So one trace meets every partition, with empty rows at the ends and in between.
#pragma once
#include "check/op_samples.h"

#include <anyshape/ops.h>

#include <algorithm>
#include <numeric>

namespace anyshape::check {

using Bounds = std::vector<int64_t>;

inline Tensor splits_of(const Tensor& x, const Tensor& cuts) {
  const Tensor total = reshape(size(x, 0), {1});
  return concat({zeros({1}, {.dtype = i64}), sort(cast(cuts, i64)), total});
}

inline Bounds bounds_of(const Flat& x, const Flat& cuts) {
  Bounds bounds = {0};
  for (const double cut : cuts.values) bounds.push_back(static_cast<int64_t>(cut));
  bounds.push_back(x.sizes[0]);
  std::ranges::sort(bounds);
  return bounds;
}

inline Bounds bounds_of(Flats in) { return bounds_of(in[0], in[1]); }

// Values of rank 1, 2 or 3 by the case's number, and cuts in one dtype or the other.
inline std::vector<InputPlan> segment_inputs(Random& random, Dtype dtype, int number, const Domain& domain) {
  const Sizes sizes = random.sizes(number % 3 + 1);
  const Domain anywhere{.low = 0, .high = static_cast<double>(sizes[0])};
  return {{sizes, dtype, domain}, {{random.size()}, number % 2 == 0 ? i64 : i32, anywhere}};
}

// The same; but where derivatives are tried two rows, none of them empty, for ops that give no ordinary number for an empty row.
inline std::vector<InputPlan> filled_segment_inputs(Random& random, Dtype dtype, int number, const Domain& domain) {
  std::vector<InputPlan> plans = segment_inputs(random, dtype, number, domain);
  if (!random.smooth) return plans;
  plans[0].sizes[0] += 2;
  plans[1].sizes[0] = 1;
  plans[1].domain = {.low = 1, .high = static_cast<double>(plans[0].sizes[0] - 1)};
  return plans;
}

// Column `column` of the elements [begin, end) along the first axis.
inline std::vector<double> column_of(const Flat& x, int64_t begin, int64_t end, int64_t column) {
  const int64_t width = count_of({x.sizes.begin() + 1, x.sizes.end()});
  std::vector<double> values;
  for (int64_t i = begin; i < end; ++i) values.push_back(x.values[static_cast<size_t>(i * width + column)]);
  return values;
}

// [total, ...] -> [rows, ...]: each column of each row is one number.
template <class Fold>
Flat per_row(const Flat& x, const Bounds& bounds, Dtype dtype, const Fold& fold) {
  Sizes sizes = x.sizes;
  sizes[0] = static_cast<int64_t>(bounds.size()) - 1;
  const int64_t width = count_of({x.sizes.begin() + 1, x.sizes.end()});
  Flat result{dtype, sizes, {}};
  for (size_t row = 0; row + 1 < bounds.size(); ++row) {
    for (int64_t column = 0; column < width; ++column) result.values.push_back(fold(column_of(x, bounds[row], bounds[row + 1], column)));
  }
  return result;
}

// [total, ...] -> [total, ...]: each column of each row becomes as many numbers.
template <class Change>
Flat in_rows(const Flat& x, const Bounds& bounds, Dtype dtype, const Change& change) {
  const int64_t width = count_of({x.sizes.begin() + 1, x.sizes.end()});
  Flat result{dtype, x.sizes, x.values};
  for (size_t row = 0; row + 1 < bounds.size(); ++row) {
    for (int64_t column = 0; column < width; ++column) {
      const std::vector<double> changed = change(column_of(x, bounds[row], bounds[row + 1], column));
      for (size_t i = 0; i < changed.size(); ++i) {
        result.values[static_cast<size_t>((bounds[row] + static_cast<int64_t>(i)) * width + column)] = changed[i];
      }
    }
  }
  return result;
}

using SegmentOp = std::function<Tensor(const Tensor& values, const Tensor& splits)>;

inline Tensor splits(const std::vector<int64_t>& values) { return tensor(values, {static_cast<int64_t>(values.size())}); }

// What every op on values and splits refuses.
// `reader` is the op that finds bad values in the splits, where it is another.
inline std::vector<WrongCall> wrong_splits(const std::string& name, const SegmentOp& op, const std::string& reader) {
  return {
      wrong<DataError>([op] { return op(ones({3}), splits({0, 2, 1, 3})); },
                       {reader + ": row split 1 at position 2 is out of order", "never decrease and end at 3"}),
      wrong<DataError>([op] { return op(ones({3, 2}), splits({1, 3})); }, {reader + ": row split 1 at position 0 is out of order"}),
      wrong<DataError>([op] { return op(ones({3}), splits({0, 2})); }, {reader + ": row split 2 at position 1 is out of order"}),
      wrong<DataError>([op] { return op(ones({3}), splits({0, int64_t{1} << 60})); }, {reader + ": row split 1152921504606846976"}),
      wrong<DataError>([op] { return op(ones({3}), splits({0, std::numeric_limits<int64_t>::min(), 3})); },
                       {reader + ": row split -92233"}),
      wrong<ShapeError>([op] { return op(ones({3}), zeros({2, 2}, {.dtype = i64})); },
                        {name + ": row splits have rank 2", "[3]", "i64[2, 2]"}),
      wrong<ShapeError>([op] { return op(ones({0}), zeros({0}, {.dtype = i64})); }, {name + ": there is no row split", "i64[0]"}),
      wrong<DtypeError>([op] { return op(ones({3}), tensor({0.F, 3.F})); }, {name + ": row splits are f32; expected i32 or i64"}),
      wrong<ShapeError>([op] { return op(1.0F, splits({0, 1})); }, {name + ": the values have no axis"}),
      wrong<ArgumentError>([op] { return op(Tensor(), splits({0, 1})); }, {"expected a tensor with a value"}),
  };
}

inline std::vector<WrongCall> wrong_splits(const std::string& name, const SegmentOp& op) { return wrong_splits(name, op, name); }

// An op on values and splits; `op` names its entry of all_ops(), if it has one.
inline OpSample segment_sample(const std::string& name, const SegmentOp& call, const Domain& domain) {
  OpSample sample;
  sample.name = "segment " + name;
  sample.ops = {"segment_" + name};
  sample.cases = 3;
  sample.dtypes = {f32, f64, i32};
  sample.call = [call](Tensors in, int) { return std::vector<Tensor>{call(in[0], splits_of(in[0], in[1]))}; };
  sample.inputs = [domain](Random& random, Dtype dtype, int number) { return segment_inputs(random, dtype, number, domain); };
  sample.wrong = wrong_splits("segment_" + name, call);
  return sample;
}

}  // namespace anyshape::check
