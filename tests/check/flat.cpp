// Flat: reading tensors out, making them, and saying where two differ.
#include "check/flat.h"

#include "tensor/element.h"
#include "tensor/half.h"
#include "tensor/view.h"

#include <anyshape/ops.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace anyshape::check {
namespace {

template <class T>
std::vector<double> widened(const Tensor& tensor) {
  std::vector<double> values;
  for (const T value : tensor.to_vector<T>()) {
    if constexpr (std::is_floating_point_v<T>) {
      const bool is_denormal = std::fpclassify(value) == FP_SUBNORMAL;
      values.push_back(is_denormal ? std::copysign(0.0, static_cast<double>(value)) : static_cast<double>(value));
    } else {
      values.push_back(static_cast<double>(value));
    }
  }
  return values;
}

template <class T>
Tensor narrowed(const Flat& flat) {
  std::vector<T> values;
  for (const double value : flat.values) values.push_back(static_cast<T>(value));
  return tensor(values, Shape(std::span<const int64_t>(flat.sizes)));
}

double smallest_normal(Dtype dtype) {
  if (dtype == Dtype::f16) return 0x1p-24;  // kernels keep its denormals: this is the step between them
  return dtype == Dtype::f64 ? std::numeric_limits<double>::min() : static_cast<double>(std::numeric_limits<float>::min());
}

// A finite number that the dtype cannot hold is an infinity there.
double as_held_by(Dtype dtype, double value) {
  if (dtype == Dtype::u8) return value - 256 * std::floor(value / 256);  // integers wrap; those of the others are small
  if (dtype == Dtype::f16) return static_cast<double>(static_cast<float>(Float16(value)));
  if (dtype == Dtype::bf16) return static_cast<double>(static_cast<float>(Bfloat16(value)));
  if (dtype != Dtype::f32 || std::isnan(value)) return value;
  return static_cast<double>(static_cast<float>(value));
}

bool agree(double got, double expected, Dtype dtype, Closeness tolerance) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  const double held = as_held_by(dtype, expected);
  if (got == held) return true;
  if (!is_floating(dtype)) return false;
  // At the edge of the range rounding decides between the largest number and infinity.
  if (std::isinf(held) || std::isinf(got)) {
    const double limit = dtype == Dtype::f64   ? std::numeric_limits<double>::max()
                         : dtype == Dtype::f16 ? 65504
                                               : static_cast<double>(std::numeric_limits<float>::max());
    const double nearly = limit * (is_half(dtype) ? 0.98 : 0.999);
    return std::signbit(got) == std::signbit(held) && !std::isinf(expected) && std::abs(expected) > nearly && std::abs(got) > nearly;
  }
  return std::abs(got - held) <= smallest_normal(dtype) + tolerance.absolute + tolerance.relative * std::abs(held);
}

std::string sizes_text(const Tensor& tensor) { return fmt::format("{}{}", to_string(tensor.dtype()), to_string(tensor.shape())); }

template <class T>
std::string first_difference(const Tensor& got, const Tensor& expected) {
  const std::vector<T> a = got.to_vector<T>(), b = expected.to_vector<T>();
  for (size_t i = 0; i < a.size(); ++i) {
    const T left = a[i], right = b[i];
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(left) && std::isnan(right)) continue;
      if (std::memcmp(&left, &right, sizeof left) == 0) continue;
      // Fused or not, a value passes through other instructions: which of them flushes a denormal, and the sign of a zero, may differ.
      if (std::abs(left) < std::numeric_limits<T>::min() && std::abs(right) < std::numeric_limits<T>::min()) continue;
    } else if (left == right) {
      continue;
    }
    return fmt::format("element {} of {}: {} against {}", i, sizes_text(got), left, right);
  }
  return "";
}

}  // namespace

int64_t count_of(const Sizes& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

Sizes unravel(int64_t number, const Sizes& sizes) {
  Sizes index(sizes.size());
  for (size_t axis = sizes.size(); axis-- > 0;) {
    index[axis] = number % sizes[axis];
    number /= sizes[axis];
  }
  return index;
}

int64_t ravel(const Sizes& index, const Sizes& sizes) {
  int64_t number = 0;
  for (size_t axis = 0; axis < sizes.size(); ++axis) number = number * sizes[axis] + index[axis];
  return number;
}

double broadcast_at(const Flat& x, const Sizes& index) {
  const size_t added = index.size() - x.sizes.size();
  Sizes own(x.sizes.size());
  for (size_t axis = 0; axis < own.size(); ++axis) own[axis] = x.sizes[axis] == 1 ? 0 : index[axis + added];
  return x.values[static_cast<size_t>(ravel(own, x.sizes))];
}

Sizes broadcast_sizes(const Sizes& a, const Sizes& b) {
  Sizes result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1, right = i < b.size() ? b[b.size() - 1 - i] : 1;
    result[result.size() - 1 - i] = left == 1 ? right : left;
  }
  return result;
}

Flat to_flat(const Tensor& tensor) {
  Flat flat{tensor.dtype(), {}, {}};
  for (const Dim& size : tensor.shape()) flat.sizes.push_back(size.value());
  switch (tensor.dtype()) {
    case Dtype::b8: flat.values = widened<bool>(tensor); break;
    case Dtype::u8: flat.values = widened<uint8_t>(tensor); break;
    case Dtype::i32: flat.values = widened<int32_t>(tensor); break;
    case Dtype::i64: flat.values = widened<int64_t>(tensor); break;
    case Dtype::f32: flat.values = widened<float>(tensor); break;
    case Dtype::f64: flat.values = widened<double>(tensor); break;
    case Dtype::f16:
    case Dtype::bf16: flat.values = widened<float>(tensor); break;
  }
  return flat;
}

Tensor to_tensor(const Flat& values) {
  switch (values.dtype) {
    case Dtype::b8: return narrowed<bool>(values);
    case Dtype::u8: return narrowed<uint8_t>(values);
    case Dtype::i32: return narrowed<int32_t>(values);
    case Dtype::i64: return narrowed<int64_t>(values);
    case Dtype::f32: return narrowed<float>(values);
    case Dtype::f64: return narrowed<double>(values);
    case Dtype::f16:
    case Dtype::bf16: return cast(narrowed<float>(values), values.dtype);
  }
  return {};
}

std::string difference(const Tensor& got, const Flat& expected, Closeness tolerance) {
  const Flat mine = to_flat(got);
  if (mine.dtype != expected.dtype || mine.sizes != expected.sizes) {
    return fmt::format("got {}, expected {}{}", sizes_text(got), to_string(expected.dtype), to_string(expected.sizes));
  }
  for (size_t i = 0; i < mine.values.size(); ++i) {
    if (agree(mine.values[i], expected.values[i], mine.dtype, tolerance)) continue;
    return fmt::format("element {} of {}: got {}, expected {}", i, sizes_text(got), mine.values[i], expected.values[i]);
  }
  return "";
}

std::string difference_in_bits(const Tensor& got, const Tensor& expected) {
  if (sizes_text(got) != sizes_text(expected)) return fmt::format("{} against {}", sizes_text(got), sizes_text(expected));
  switch (got.dtype()) {
    case Dtype::b8: return first_difference<bool>(got, expected);
    case Dtype::u8: return first_difference<uint8_t>(got, expected);
    case Dtype::i32: return first_difference<int32_t>(got, expected);
    case Dtype::i64: return first_difference<int64_t>(got, expected);
    case Dtype::f64: return first_difference<double>(got, expected);
    case Dtype::f32: return first_difference<float>(got, expected);
    default: return first_difference<float>(got, expected);
  }
}

std::string to_string(const Sizes& sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); }

}  // namespace anyshape::check
