// Tensors compared bit by bit.
#pragma once
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>
#include <vector>

namespace anyshape::test {

template <class T>
bool same_elements(const Tensor& a, const Tensor& b) {
  const std::vector<T> left = a.to_vector<T>(), right = b.to_vector<T>();
  if constexpr (std::is_same_v<T, bool>) {
    return left == right;
  } else {
    return left.size() == right.size() && (left.empty() || std::memcmp(left.data(), right.data(), left.size() * sizeof(T)) == 0);
  }
}

// Of the dtypes that the tests compare so; to_vector() refuses others.
inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || to_string(a.shape()) != to_string(b.shape())) return false;
  switch (a.dtype()) {
    case Dtype::f64: return same_elements<double>(a, b);
    case Dtype::i64: return same_elements<int64_t>(a, b);
    case Dtype::i32: return same_elements<int32_t>(a, b);
    case Dtype::b8: return same_elements<bool>(a, b);
    default: return same_elements<float>(a, b);
  }
}

inline void expect_same_bits(const Tensor& got, const Tensor& wanted) {
  EXPECT_TRUE(same_bits(got, wanted)) << to_string(got.shape()) << " and " << to_string(wanted.shape());
}

}  // namespace anyshape::test
