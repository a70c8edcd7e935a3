// What the samples of reductions share: the cases of axes, and folds of plain arrays.
#pragma once
#include "check/op_samples.h"

#include <anyshape/ops.h>

#include <algorithm>
#include <numeric>

namespace anyshape::check {

struct ReduceCase {
  int rank;
  std::vector<int64_t> axes;  // of all cases but the first: `all` says whether none are named
  bool all = false;
  bool keep_dims = false;

  ReduceOptions options() const { return {.axes = all ? Axes() : Axes(axes), .keep_dims = keep_dims}; }
  bool reduces(int axis) const {
    return all || std::ranges::find(axes, axis) != axes.end() || std::ranges::find(axes, axis - rank) != axes.end();
  }
};

inline const std::vector<ReduceCase>& reduce_cases() {
  static const std::vector<ReduceCase> cases = {
      {0, {}, true}, {1, {0}}, {2, {}, true}, {2, {-1}}, {2, {0}, false, true}, {3, {1}}, {3, {0, 2}}, {4, {-1, 1}, false, true}, {2, {}},
  };
  return cases;
}

// For every element of the result, the elements of x that make it, in row-major order.
template <class Fold>
Flat folded(const Flat& x, const ReduceCase& how, Dtype dtype, const Fold& fold) {
  Sizes kept, result_sizes;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const int64_t size = x.sizes[static_cast<size_t>(axis)];
    kept.push_back(how.reduces(axis) ? 1 : size);
    if (!how.reduces(axis) || how.keep_dims) result_sizes.push_back(how.reduces(axis) ? 1 : size);
  }
  std::vector<std::vector<double>> parts(static_cast<size_t>(count_of(kept)));
  for (int64_t i = 0; i < x.count(); ++i) {
    Sizes index = unravel(i, x.sizes);
    for (size_t axis = 0; axis < index.size(); ++axis) index[axis] = kept[axis] == 1 ? 0 : index[axis];
    parts[static_cast<size_t>(ravel(index, kept))].push_back(x.values[static_cast<size_t>(i)]);
  }
  Flat result{dtype, result_sizes, {}};
  for (const std::vector<double>& part : parts) result.values.push_back(fold(part));
  return result;
}

using Fold = double (*)(const std::vector<double>&);
using ReduceOp = Tensor (*)(const Tensor&, ReduceOptions);

inline Dtype counting_dtype(Dtype dtype) { return dtype == b8 ? i32 : dtype; }
inline Dtype floating_dtype(Dtype dtype) { return is_floating(dtype) ? dtype : f32; }
inline Dtype bool_dtype(Dtype) { return b8; }
inline Dtype i64_dtype(Dtype) { return i64; }

// A reduction by axes; `result` says the dtype it gives.
OpSample reduce_sample(const std::string& name, ReduceOp op, Fold fold, Dtype (*result)(Dtype), Domain domain);

// The rows of x along an axis, each replaced by what `row` makes of it.
template <class Row>
Flat along(const Flat& x, int axis, Dtype dtype, const Row& row) {
  Flat result{dtype, x.sizes, x.values};
  Sizes outer = x.sizes;
  outer[static_cast<size_t>(axis)] = 1;
  const int64_t size = x.sizes[static_cast<size_t>(axis)];
  for (int64_t start = 0; start < (size == 0 ? 0 : count_of(outer)); ++start) {
    Sizes index = unravel(start, outer);
    std::vector<double> values;
    std::vector<size_t> offsets;
    for (int64_t i = 0; i < size; ++i) {
      index[static_cast<size_t>(axis)] = i;
      offsets.push_back(static_cast<size_t>(ravel(index, x.sizes)));
      values.push_back(x.values[offsets.back()]);
    }
    const std::vector<double> got = row(values);
    for (size_t i = 0; i < offsets.size(); ++i) result.values[offsets[i]] = got[i];
  }
  return result;
}

}  // namespace anyshape::check
