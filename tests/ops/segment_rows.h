// Rows of unequal length for tests: a partition by lengths, and each row as a dense tensor of its own.
#pragma once
#include <gtest/gtest.h>

#include <anyshape/anyshape.h>

#include <functional>
#include <vector>

namespace anyshape {

using Lengths = std::vector<int64_t>;

inline Tensor splits_for(const Lengths& lengths) {
  std::vector<int64_t> splits = {0};
  for (const int64_t length : lengths) splits.push_back(splits.back() + length);
  return tensor(splits, {static_cast<int64_t>(splits.size())});
}

inline int64_t total_of(const Lengths& lengths) {
  int64_t total = 0;
  for (const int64_t length : lengths) total += length;
  return total;
}

inline Tensor row_of(const Tensor& values, const Lengths& lengths, size_t row) {
  const int64_t begin = total_of({lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(row)});
  return slice(values, {{.begin = begin, .end = begin + lengths[row]}});
}

// What `dense` makes of each row alone, put one behind the other: as new rows, or stacked where a row becomes one element.
inline Tensor row_by_row(const Tensor& values, const Lengths& lengths, const std::function<Tensor(const Tensor& row)>& dense,
                         bool reduces) {
  std::vector<Tensor> results;
  for (size_t row = 0; row < lengths.size(); ++row) results.push_back(dense(row_of(values, lengths, row)));
  return reduces ? stack(results) : concat(results);
}

// Partitions with empty rows at both ends and in between, rows of one element, and rows longer than any vector register.
inline const std::vector<Lengths>& partitions() {
  static const std::vector<Lengths> all = {{3, 0, 2, 4, 1}, {0, 0, 1, 0}, {1}, {17, 33, 0, 64, 5}, {0}, {700, 1, 250}};
  return all;
}

}  // namespace anyshape
