// The same rows three ways: ragged, padded with a mask, one by one. What a loss or metric says of them must be the same.
#pragma once
#include "nn/notes.h"

#include <anyshape/anyshape.h>

#include <cmath>
#include <string>
#include <vector>

namespace anyshape::test {

using Lengths = std::vector<int64_t>;

// With an empty row, all equal, all empty, one row, one element, no row.
inline const std::vector<Lengths>& all_lengths() {
  static const std::vector<Lengths> lengths = {{3, 0, 5, 1}, {2, 2, 2}, {0, 0}, {4}, {1}, {}};
  return lengths;
}

inline Tensor lengths_tensor(const Lengths& lengths) { return tensor(lengths, {static_cast<int64_t>(lengths.size())}); }

inline int64_t total_of(const Lengths& lengths) {
  int64_t total = 0;
  for (const int64_t length : lengths) total += length;
  return total;
}

// Numbers between 0.05 and 0.95, all different.
inline Tensor numbers(const Shape& shape, int seed) {
  std::vector<double> values(static_cast<size_t>(shape.count().value()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.05 + 0.9 * std::fmod(0.618034 * static_cast<double>(i + 1) + 0.271 * seed, 1.0);
  return tensor(values, shape);
}

enum class Targets : uint8_t { Numbers, Binary, OneHot, Classes };

// Targets for predictions [total, classes], or [total] where classes is 0.
inline Tensor targets(Targets kind, int64_t total, int64_t classes, int seed = 5) {
  const Shape shape = classes == 0 ? Shape{total} : Shape{total, classes};
  if (kind == Targets::Numbers) return numbers(shape, seed);
  if (kind == Targets::Binary) return cast(numbers(shape, seed) > 0.5, Dtype::i32);
  const Tensor labels = cast(floor(numbers({total}, seed) * static_cast<double>(classes)), Dtype::i32);
  return kind == Targets::Classes ? labels : one_hot(labels, classes);
}

// Row r of values that stand one behind the other.
inline std::vector<Tensor> split_rows(const Tensor& values, const Lengths& lengths) {
  std::vector<Tensor> rows;
  int64_t begin = 0;
  for (const int64_t length : lengths) {
    rows.push_back(slice(values, {{.begin = begin, .end = begin + length}}));
    begin += length;
  }
  return rows;
}

// [rows, longest, ...], and which of it is real, noted as a layer would.
inline Tensor masked(const Tensor& ragged) {
  const Tensor padded = to_padded(ragged);
  const Tensor positions = arange(padded.shape()[1], {.dtype = Dtype::i64});
  return nn::with_mask(padded, expand_dims(positions, 0) < expand_dims(row_lengths(ragged), 1));
}

}  // namespace anyshape::test
