// Integers that stand in wider dtypes, against the same arithmetic in C++.
#include "onnx/ops/narrow.h"

#include <anyshape/ops.h>

#include <gtest/gtest.h>

#include <limits>

namespace anyshape::onnx {
namespace {

// Every pair of edges, as two tensors.
template <class Narrow, class Held>
struct Pairs {
  std::vector<Narrow> a, b;
  explicit Pairs(const std::vector<Narrow>& edges) {
    for (const Narrow x : edges) {
      for (const Narrow y : edges) {
        a.push_back(x);
        b.push_back(y);
      }
    }
  }
  static Tensor held(const std::vector<Narrow>& values) { return tensor(std::vector<Held>(values.begin(), values.end())); }
};

template <class Narrow>
std::vector<Narrow> edges() {
  using Limits = std::numeric_limits<Narrow>;
  return {Limits::min(),
          static_cast<Narrow>(Limits::min() + 1),
          Narrow{0},
          Narrow{1},
          Narrow{7},
          static_cast<Narrow>(Limits::max() / 2),
          static_cast<Narrow>(Limits::max() / 2 + 1),
          static_cast<Narrow>(Limits::max() - 1),
          Limits::max()};
}

template <class Narrow, class Held>
void wraps_as_its_type_does(ElementType type) {
  const Pairs<Narrow, Held> pairs(edges<Narrow>());
  const Tensor a = pairs.held(pairs.a), b = pairs.held(pairs.b);
  const std::vector<Held> sums = wrapped(a + b, type).tensor().template to_vector<Held>(),
                          products = wrapped(a * b, type).tensor().template to_vector<Held>(),
                          differences = wrapped(a - b, type).tensor().template to_vector<Held>();
  for (size_t i = 0; i < pairs.a.size(); ++i) {
    const auto x = static_cast<uint64_t>(pairs.a[i]), y = static_cast<uint64_t>(pairs.b[i]);
    EXPECT_EQ(sums[i], static_cast<Held>(static_cast<Narrow>(x + y))) << i;
    EXPECT_EQ(products[i], static_cast<Held>(static_cast<Narrow>(x * y))) << i;
    EXPECT_EQ(differences[i], static_cast<Held>(static_cast<Narrow>(x - y))) << i;
  }
}

TEST(OnnxNarrow, arithmetic_wraps_as_that_of_the_type_does) {
  wraps_as_its_type_does<int8_t, int32_t>(ElementType::Int8);
  wraps_as_its_type_does<int16_t, int32_t>(ElementType::Int16);
  wraps_as_its_type_does<uint16_t, int32_t>(ElementType::Uint16);
  wraps_as_its_type_does<uint32_t, int64_t>(ElementType::Uint32);
  wraps_as_its_type_does<uint64_t, int64_t>(ElementType::Uint64);
}

TEST(OnnxNarrow, a_few_bits_are_held_as_signed_and_unsigned_numbers) {
  const Tensor x = tensor({-9, -8, 7, 8, 15, 16});
  EXPECT_TRUE(all_equal(wrapped(x, ElementType::Int4).tensor(), tensor({7, -8, 7, -8, -1, 0})));
  EXPECT_TRUE(all_equal(wrapped(x, ElementType::Int2).tensor(), tensor({-1, 0, -1, 0, -1, 0})));
  const Tensor bytes = tensor(std::vector<uint8_t>{3, 4, 15, 16, 255});
  EXPECT_TRUE(all_equal(wrapped(bytes, ElementType::Uint4).tensor(), tensor(std::vector<uint8_t>{3, 4, 15, 0, 15})));
  EXPECT_TRUE(all_equal(wrapped(bytes, ElementType::Uint2).tensor(), tensor(std::vector<uint8_t>{3, 0, 3, 0, 3})));
}

TEST(OnnxNarrow, quotients_and_rests_of_uint64_count_the_highest_bit) {
  const Pairs<uint64_t, int64_t> pairs(edges<uint64_t>());
  const Tensor a = pairs.held(pairs.a), b = pairs.held(pairs.b);
  const auto quotients = divided(a, b, ElementType::Uint64).to_vector<int64_t>(),
             rests = cut_remainder(a, b, ElementType::Uint64).to_vector<int64_t>();
  const auto less_than = less(ordered(a, ElementType::Uint64), ordered(b, ElementType::Uint64)).to_vector<bool>();
  for (size_t i = 0; i < pairs.a.size(); ++i) {
    EXPECT_EQ(less_than[i], pairs.a[i] < pairs.b[i]) << pairs.a[i] << " " << pairs.b[i];
    if (pairs.b[i] == 0) continue;
    EXPECT_EQ(static_cast<uint64_t>(quotients[i]), pairs.a[i] / pairs.b[i]) << pairs.a[i] << " / " << pairs.b[i];
    EXPECT_EQ(static_cast<uint64_t>(rests[i]), pairs.a[i] % pairs.b[i]) << pairs.a[i] << " % " << pairs.b[i];
  }
}

TEST(OnnxNarrow, integers_are_divided_towards_zero) {
  const Tensor a = tensor({7, -7, 7, -7, 6, -6}), b = tensor({2, 2, -2, -2, 3, 3});
  EXPECT_TRUE(all_equal(divided(a, b, ElementType::Int32), tensor({3, -3, -3, 3, 2, -2})));
  EXPECT_TRUE(all_equal(cut_remainder(a, b, ElementType::Int32), tensor({1, -1, 1, -1, 0, 0})));
  EXPECT_TRUE(
      all_equal(cut_remainder(tensor({5.5F, -5.5F, -5.5F}), tensor({2.F, 2.F, -2.F}), ElementType::Float), tensor({1.5F, -1.5F, -1.5F})));
}

}  // namespace
}  // namespace anyshape::onnx
