// Tensors of f32 compared bit by bit.
#pragma once
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace anyshape::test {

inline bool same_bits(const Tensor& a, const Tensor& b) {
  const std::vector<float> left = a.to_vector<float>(), right = b.to_vector<float>();
  return to_string(a.shape()) == to_string(b.shape()) &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0);
}

inline void expect_same_bits(const Tensor& got, const Tensor& wanted) {
  EXPECT_TRUE(same_bits(got, wanted)) << to_string(got.shape()) << " and " << to_string(wanted.shape());
}

}  // namespace anyshape::test
