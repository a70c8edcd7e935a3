// Joining many tensors inside a trace: any number of them, in time that grows with it, with gradients for each.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace anyshape {
namespace {

using Floats = std::vector<float>;

Tensor counting(const Shape& shape) { return reshape(arange(shape.count(), {.dtype = f32}), shape); }

// Tensors [1..5, 2] of the numbers from `first` on.
std::vector<Tensor> uneven(int64_t count, int64_t first) {
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < count; ++i) parts.push_back(counting({1 + (i + first) % 5, 2}) + static_cast<float>(first + i));
  return parts;
}

TEST(JoinFunction, stacks_many_slices_along_any_axis) {
  for (const int64_t axis : {0, 1, -1}) {
    auto turned = function(
        [axis](Tensor x) {
          std::vector<Tensor> columns;
          for (int64_t i = 0; i < 300; ++i) columns.push_back(reshape(slice(x, {{}, {i, i + 1}}), {x.shape()[0]}));
          return stack(columns, {.axis = axis == 1 ? 0 : axis});
        },
        {.name = "turned", .signature = {spec(f32, {dim("rows"), 300}, "x")}});
    for (const int64_t rows : {3, 1, 0, 40}) {
      const Tensor x = counting({rows, 300});
      EXPECT_TRUE(all_equal(turned(x), axis == -1 ? x : transpose(x, {1, 0}))) << axis << " " << rows;
    }
    EXPECT_EQ(turned.stats().compiles, 1);
  }
}

TEST(JoinFunction, concatenates_hundreds_of_tensors_each_of_its_own_size) {
  auto joined = function([](std::vector<Tensor> parts) { return concat(parts); }, {.name = "joined"});
  for (const int64_t first : {0, 3, 1}) {
    const std::vector<Tensor> parts = uneven(600, first);
    EXPECT_TRUE(all_equal(joined(parts), concat(parts))) << first;
  }
  EXPECT_EQ(joined.stats().traces, 1);
  EXPECT_EQ(joined.stats().compiles, 1);
  auto beside = function([](std::vector<Tensor> parts) { return concat(parts, {.axis = 1}); }, {.name = "beside"});
  std::vector<Tensor> columns;
  for (int64_t i = 0; i < 300; ++i) columns.push_back(counting({4, 1 + i % 3}) + static_cast<float>(i));
  EXPECT_TRUE(all_equal(beside(columns), concat(columns, {.axis = 1})));
}

TEST(JoinFunction, gives_each_of_hundreds_its_gradient) {
  auto gradients = function(
      [](std::vector<Tensor> parts) {
        GradientTape tape;
        for (const Tensor& part : parts) tape.watch(part);
        const Tensor whole = concat(parts);
        return tape.gradient(sum(whole * square(whole)), parts);
      },
      {.name = "gradients"});
  for (const int64_t first : {0, 2}) {
    const std::vector<Tensor> parts = uneven(400, first);
    const std::vector<Tensor> found = gradients(parts);
    ASSERT_EQ(found.size(), parts.size());
    for (size_t i = 0; i < parts.size(); ++i) EXPECT_TRUE(all_close(found[i], 3.0F * square(parts[i]))) << first << " " << i;
  }
  EXPECT_EQ(gradients.stats().compiles, 1);
}

TEST(JoinFunction, joins_many_in_the_body_of_a_loop) {
  auto turns = function(
      [](Tensor x) {
        return while_loop([](const std::vector<Tensor>& state) { return state[0] < 3; },
                          [](const std::vector<Tensor>& state) {
                            std::vector<Tensor> parts = unstack(state[1]);  // the first goes to the end
                            std::ranges::rotate(parts, parts.begin() + 1);
                            return std::vector<Tensor>{state[0] + 1, stack(parts)};
                          },
                          std::vector<Tensor>{tensor({0}), x})[1];
      },
      {.name = "turns", .signature = {spec(f32, {40, dim("n")}, "x")}});
  const Tensor x = counting({40, 5});
  EXPECT_TRUE(all_equal(turns(x), concat({slice(x, {{3}}), slice(x, {{0, 3}})})));
}

TEST(JoinFunction, compiles_in_time_that_grows_with_the_number_of_parts) {
  set_kernel_cache({.enabled = false});
  auto compile_ms = [](int64_t count) {
    double least = 1e9;
    for (int attempt = 0; attempt < 2; ++attempt) {
      auto joined = function([](std::vector<Tensor> parts) { return concat(parts); }, {.name = "joined"});
      joined(uneven(count, attempt));
      least = std::min(least, joined.stats().compile_ms);
    }
    return least;
  };
  compile_ms(20);
  const double few = compile_ms(300), many = compile_ms(1200);
  RecordProperty("compile_ms_300", std::to_string(few));
  RecordProperty("compile_ms_1200", std::to_string(many));
  EXPECT_LT(many, 12 * few) << few << " " << many;  // four times as many; three times for a busy machine
}

TEST(JoinFunction, makes_ragged_tensors_of_many_rows) {
  auto sums = function([](std::vector<Tensor> rows) { return sum(ragged_from_rows(rows), {.axes = {1}}); }, {.name = "sums"});
  for (const int64_t first : {0, 1}) {
    const std::vector<Tensor> rows = uneven(100, first);
    EXPECT_TRUE(all_equal(sums(rows), sum(ragged_from_rows(rows), {.axes = {1}})));
  }
  EXPECT_EQ(sums.stats().compiles, 1);
}

}  // namespace
}  // namespace anyshape
