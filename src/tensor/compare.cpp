// Comparing whole tensors on the host: exactly, and within a tolerance. The rules for NaN and infinity are NumPy's.
#include "tensor/element.h"
#include "tensor/host_data.h"
#include "tensor/partition.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace anyshape {
namespace {

constexpr int64_t chunk = 256;  // elements widened at a time

bool equal_sizes(const TensorImpl& a, const TensorImpl& b) { return std::ranges::equal(a.extents(), b.extents()); }

// Both ragged, row by row of one length.
bool have_equal_rows(const Tensor& a, const Tensor& b) {
  const RaggedTensor *left = as_ragged(a), *right = as_ragged(b);
  if (left == nullptr || right == nullptr) return false;
  static_cast<void>(require_eager(left->partition->splits, "comparison of rows"));
  static_cast<void>(require_eager(right->partition->splits, "comparison of rows"));
  return have_equal_splits(*left->partition, *right->partition);
}

template <class Wide>
void widen(const TensorImpl& dense, int64_t begin, int64_t count, Wide* out) {
  with_element(dense.dtype, [&]<class T>(T) {
    const auto* from = host_data<const T>(dense) + begin;
    for (int64_t i = 0; i < count; ++i) out[i] = convert_element<Wide>(from[i]);
  });
}

bool is_close(double a, double b, const CloseOptions& options) {
  return a == b || (std::isfinite(b) && std::abs(a - b) <= options.absolute + options.relative * std::abs(b));
}

// Integers keep all their bits: their distance is taken before it becomes a floating number.
bool is_close(int64_t a, int64_t b, const CloseOptions& options) {
  const uint64_t distance =
      a > b ? static_cast<uint64_t>(a) - static_cast<uint64_t>(b) : static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
  return static_cast<double>(distance) <= options.absolute + options.relative * std::abs(static_cast<double>(b));
}

template <class Wide>
bool all_close_as(const TensorImpl& a, const TensorImpl& b, const CloseOptions& options) {
  const int64_t count = a.count();
  Wide left[chunk], right[chunk];
  for (int64_t begin = 0; begin < count; begin += chunk) {
    const int64_t here = std::min(chunk, count - begin);
    widen(a, begin, here, left);
    widen(b, begin, here, right);
    for (int64_t i = 0; i < here; ++i) {
      if (!is_close(left[i], right[i], options)) return false;
    }
  }
  return true;
}

}  // namespace

bool all_equal(const Tensor& a, const Tensor& b) {
  if (as_ragged(a) != nullptr || as_ragged(b) != nullptr) return have_equal_rows(a, b) && all_equal(a.values(), b.values());
  const TensorImpl& left = require_eager(a, "all_equal");
  const TensorImpl& right = require_eager(b, "all_equal");
  if (left.dtype != right.dtype || !equal_sizes(left, right)) return false;
  const Tensor dense_left = contiguous(a), dense_right = contiguous(b);
  return with_element(left.dtype, [&]<class T>(T) {
    const auto* from = host_data<const T>(dense_left);
    return std::equal(from, from + left.count(), host_data<const T>(dense_right));
  });
}

bool all_close(const Tensor& a, const Tensor& b, CloseOptions options) {
  if (as_ragged(a) != nullptr || as_ragged(b) != nullptr) {
    if (have_equal_rows(a, b)) return all_close(a.values(), b.values(), options);
    throw ShapeError(fmt::format("all_close: rows differ: a is {}, b is {}; expected rows of equal lengths.", describe(a), describe(b)));
  }
  const TensorImpl& left = require_eager(a, "all_close");
  const TensorImpl& right = require_eager(b, "all_close");
  if (!equal_sizes(left, right)) {
    throw ShapeError(fmt::format("all_close: shapes differ: a is {}, b is {}; expected equal shapes.", describe(a), describe(b)));
  }
  const Tensor dense_left = contiguous(a), dense_right = contiguous(b);
  const bool floating = is_floating(left.dtype) || is_floating(right.dtype);
  return floating ? all_close_as<double>(*dense_left.impl(), *dense_right.impl(), options)
                  : all_close_as<int64_t>(*dense_left.impl(), *dense_right.impl(), options);
}

}  // namespace anyshape
