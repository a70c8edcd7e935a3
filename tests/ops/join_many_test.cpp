// Joining tensors: any number of them, as a copy that takes no kernel.
#include "ops/expect_error.h"
#include "support/kernels_made.h"

#include <anyshape/anyshape.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace anyshape {
namespace {

using Floats = std::vector<float>;

Tensor counting(const Shape& shape) { return reshape(arange(shape.count(), {.dtype = f32}), shape); }

// Element by element, for parts [before, own, behind] one after the other along the middle axis.
Floats joined(const std::vector<Tensor>& parts, int64_t before, int64_t behind) {
  Floats result;
  std::vector<Floats> values;
  for (const Tensor& part : parts) values.push_back(part.to_vector<float>());
  for (int64_t row = 0; row < before; ++row) {
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto run = static_cast<int64_t>(values[i].size()) / before;
      EXPECT_EQ(run % behind, 0);
      result.insert(result.end(), values[i].begin() + row * run, values[i].begin() + (row + 1) * run);
    }
  }
  return result;
}

TEST(Join, takes_any_number_of_tensors_and_no_kernel) {
  const Tensor x = counting({6000, 3});
  for (const int64_t n : {1, 2, 33, 256, 257, 4999}) {
    std::vector<Tensor> rows, scalars, uneven;
    for (int64_t i = 0; i < n; ++i) {
      rows.push_back(slice(x, {{i, i + 1}}));
      scalars.push_back(Tensor(static_cast<float>(i)));
      uneven.push_back(slice(x, {{i, i + i % 4}}));
    }
    const test::KernelCount kernels;
    const Tensor together = stack(rows), single = stack(scalars), behind = concat(uneven), beside = concat(rows, {.axis = -1});
    EXPECT_EQ(kernels.made(), 0) << n;
    EXPECT_TRUE(together.shape() == (Shape{n, 1, 3}));
    EXPECT_EQ(together.to_vector<float>(), joined(rows, 1, 3));
    EXPECT_EQ(single.to_vector<float>(), arange(n, {.dtype = f32}).to_vector<float>());
    EXPECT_EQ(behind.to_vector<float>(), joined(uneven, 1, 3));
    EXPECT_EQ(beside.to_vector<float>(), joined(rows, 1, 1));
    EXPECT_TRUE(beside.shape() == (Shape{1, 3 * n}));
  }
}

TEST(Join, puts_parts_of_any_layout_where_they_belong) {
  // Dense, transposed, backwards, stepped, repeated and empty ones; rows that are cut among threads and rows that are not.
  for (const int64_t size : {3, 40, 300}) {
    const Tensor x = counting({size, 5, size});
    const std::vector<Tensor> parts = {x,
                                       transpose(x, {2, 1, 0}),
                                       slice(x, {{.step = -1}, {}, {.step = -1}}),
                                       slice(counting({2 * size, 11, size}), {{.step = 2}, {1, 10, 3}, {}}),
                                       broadcast_to(counting({1, 2, 1}), {size, 2, size}),
                                       zeros({size, 0, size})};
    EXPECT_EQ(concat(parts, {.axis = 1}).to_vector<float>(), joined(parts, size, size)) << size;
    std::vector<Tensor> flat, squares(parts.begin(), parts.begin() + 3);
    for (const Tensor& part : parts) flat.push_back(reshape(transpose(part, {1, 0, 2}), {-1, size}));
    EXPECT_EQ(concat(flat).to_vector<float>(), joined(flat, 1, size)) << size;
    EXPECT_EQ(stack(squares).to_vector<float>(), joined(squares, 1, 1)) << size;
    EXPECT_EQ(stack(squares, {.axis = 1}).to_vector<float>(), joined(squares, size, 1)) << size;
    EXPECT_EQ(stack(squares, {.axis = -1}).to_vector<float>(), joined(squares, size * 5 * size, 1)) << size;
  }
}

TEST(Join, keeps_every_bit_of_every_dtype) {
  const std::vector<uint32_t> words = {0x80000000U, 0x7fc12345U, 0xff812345U, 1, 0x807fffffU, 0x7f800000U};
  std::vector<float> values(words.size());
  std::memcpy(values.data(), words.data(), words.size() * 4);
  const Tensor flat = tensor(values, {static_cast<int64_t>(values.size())});
  const Floats twice = concat({flat, flat}).to_vector<float>();
  for (size_t i = 0; i < twice.size(); ++i) {
    uint32_t word = 0;
    std::memcpy(&word, &twice[i], 4);
    EXPECT_EQ(word, words[i % words.size()]) << i;
  }
  for (const Dtype dtype : {b8, u8, i32, i64, f16, bf16, f32, f64}) {
    const Tensor x = cast(tensor({0, 1, 1, 0, 1}), dtype);
    EXPECT_EQ(stack({x, x}).dtype(), dtype);
    EXPECT_TRUE(all_equal(concat({slice(x, {{0, 2}}), slice(x, {{2}})}), x)) << to_string(dtype);
  }
  EXPECT_EQ(concat({ones({2}), cast(ones({2}), f64), tensor({7, 8})}).dtype(), f64);
}

TEST(Join, names_the_one_that_does_not_fit_among_many) {
  std::vector<Tensor> rows(5000, ones({2, 3}));
  rows[4321] = ones({2, 4});
  expect_error<ShapeError>([&] { stack(rows); },
                           "stack: sizes along axis 1 differ between tensors 0 and 4321 (f32[2, 3], f32[2, 4]): a is f32[2, 3], "
                           "b is f32[2, 3], c is f32[2, 3] and 4997 more; expected tensors of one shape.");
  rows[4321] = ones({2});
  expect_error<ShapeError>([&] { concat(rows); },
                           "concat: ranks differ between tensors 0 and 4321 (f32[2, 3], f32[2]): a is f32[2, 3], b is f32[2, 3], "
                           "c is f32[2, 3] and 4997 more; expected tensors of one rank.");
}

TEST(Join, gives_each_of_many_its_gradient_without_kernels_of_their_own) {
  const Tensor x = counting({5000, 2});
  std::vector<Tensor> rows = unstack(x);
  auto gradients = [&](bool stacks) {
    GradientTape tape;
    for (const Tensor& row : rows) tape.watch(row);
    const Tensor whole = stacks ? stack(rows) : concat(rows);
    return tape.gradient(sum(square(whole)), rows);
  };
  static_cast<void>(gradients(true));
  static_cast<void>(gradients(false));
  rows.pop_back();
  const test::KernelCount kernels;
  for (const bool stacks : {true, false}) {
    const std::vector<Tensor> found = gradients(stacks);
    EXPECT_EQ(kernels.made(), 0);
    ASSERT_EQ(found.size(), 4999U);
    EXPECT_EQ(found[4998].to_vector<float>(), (Floats{2 * 9996, 2 * 9997}));
    EXPECT_EQ(found[1].to_vector<float>(), (Floats{4, 6}));
  }
}

TEST(Join, makes_ragged_and_padded_tensors_of_any_number_of_rows) {
  std::vector<Tensor> rows;
  const Tensor x = counting({20, 2});
  for (int64_t i = 0; i < 3000; ++i) rows.push_back(slice(x, {{0, i % 7}}));
  const test::KernelCount kernels;
  const Tensor ragged = ragged_from_rows(rows);
  EXPECT_EQ(kernels.made(), 0);
  EXPECT_EQ(to_string(ragged.shape()), "[3000, (0..6), 2]");
  EXPECT_EQ(ragged.values().to_vector<float>(), joined(rows, 1, 2));
  const Tensor both = concat({ragged, ragged});
  EXPECT_TRUE(all_equal(both.values(), concat({ragged.values(), ragged.values()})));
  const Tensor many = concat(std::vector<Tensor>(300, ragged_from_rows({rows[1], rows[3]})));
  EXPECT_EQ(to_string(many.shape()), "[600, (1..3), 2]");
  const Tensor padded = pad_sequences(rows, {.max_length = 4, .padding = Side::Post, .truncating = Side::Pre, .value = -1});
  EXPECT_TRUE(padded.shape() == (Shape{3000, 4, 2}));
  EXPECT_EQ(slice(padded, {{6, 7}}).to_vector<float>(), (Floats{4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(slice(padded, {{8, 9}}).to_vector<float>(), (Floats{0, 1, -1, -1, -1, -1, -1, -1}));
  const Tensor before = pad_sequences(rows, {.truncating = Side::Post});
  EXPECT_EQ(slice(before, {{2, 3}, {3}}).to_vector<float>(), (Floats{0, 0, 0, 1, 2, 3}));
}

}  // namespace
}  // namespace anyshape
