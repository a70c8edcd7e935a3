// verify(): sizes are tried at their ends and between, what differs is shrunk, nothing is left behind.
#include "graph/bind.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <set>

namespace anyshape::test {
namespace {

// An op by op run is recognised by its sizes being numbers.
bool is_traced(const Tensor& x) { return !x.shape().is_constant(); }

TEST(Verify, agrees_where_the_function_is_right_at_every_size) {
  const Dim rows = dim("rows"), cols = dim("cols", {.min = 1, .max = 40});
  auto center = function([](Tensor x) { return x - mean(x, {.axes = {1}, .keep_dims = true}); },
                         {.name = "center", .signature = {spec(f32, {rows, cols}, "x")}});
  const Verification result = verify(center, {{.name = "rows", .max = 9}}, {.count = 12});
  EXPECT_TRUE(result) << to_string(result);
  EXPECT_EQ(to_string(result), "compiled and op by op agree in 12 calls");
  EXPECT_EQ(center.stats().traces, 1);
  EXPECT_EQ(center.stats().calls, 0) << "verifying is not calling";
}

TEST(Verify, tries_ends_one_and_what_is_between) {
  std::set<int64_t> seen;
  auto watched = function(
      [&](Tensor x) {
        if (!is_traced(x)) seen.insert(x.shape()[0].value());
        return x + 1.0f;
      },
      {.name = "watched", .signature = {spec(f64, {dim("n", {.multiple_of = 2})}, "x")}});
  EXPECT_TRUE(verify(watched, {{.name = "n", .max = 20}}, {.count = 40}));
  EXPECT_TRUE(seen.contains(0));
  EXPECT_TRUE(seen.contains(20));
  EXPECT_GT(seen.size(), 6U);
  for (const int64_t size : seen) EXPECT_EQ(size % 2, 0) << size;
}

TEST(Verify, gives_the_smallest_sizes_that_differ) {
  auto wrong = function([](Tensor x) { return is_traced(x)                ? sum(x)
                                              : x.shape()[1].value() >= 3 ? sum(x) + 1.0f
                                                                          : sum(x); },
                        {.name = "wrong", .signature = {spec(f32, {dim("rows"), dim("cols")}, "x")}, .check_frozen = false});
  const Verification result = verify(wrong);
  EXPECT_FALSE(result);
  ASSERT_EQ(result.sizes.size(), 2U);
  EXPECT_EQ(result.sizes[0].value, 0);
  EXPECT_EQ(result.sizes[1].name, "cols");
  EXPECT_EQ(result.sizes[1].value, 3);
  EXPECT_EQ(to_string(result).rfind(
                "compiled and op by op differ at rows = 0, cols = 3: result 0 is f32[], and its element 0 is 0 compiled and 1 "
                "op by op (",
                0),
            0U)
      << to_string(result);
}

TEST(Verify, an_error_on_one_side_only_is_a_difference) {
  auto wrong = function(
      [](Tensor x) {
        if (!is_traced(x) && x.shape()[0].value() == 2) throw DataError("no pairs");
        return x * 2.0f;
      },
      {.name = "wrong", .signature = {spec(f32, {dim("n")})}});
  const Verification result = verify(wrong, {{.name = "n", .max = 4}}, {.count = 30});
  EXPECT_EQ(result.difference, "runs compiled, but op by op it throws: no pairs");
  ASSERT_EQ(result.sizes.size(), 1U);
  EXPECT_EQ(result.sizes[0].value, 2);
}

TEST(Verify, examples_give_dtypes_values_and_sizes_that_belong_together) {
  auto lookup = function([](Tensor table, Tensor ids, float scale) { return matmul(take(table, ids), transpose(table)) * scale; },
                         {.name = "lookup"});
  const Verification result = verify(lookup, {{.name = "b0", .max = 20}, {.name = "a0", .min = 7, .max = 7}}, {.count = 10},
                                     random::normal({7, 4}), tensor({6, 0, 3}), 0.5f);
  EXPECT_TRUE(result) << to_string(result);
  EXPECT_EQ(result.refused, 0);

  auto product = function([](Tensor a, Tensor b) { return matmul(a, b); }, {.name = "product"});
  const Verification together = verify(product, {}, {.count = 10}, ones({2, 3}), ones({3, 5}));
  EXPECT_TRUE(together) << to_string(together);
  EXPECT_EQ(together.refused, 0) << "a1 and b0 are 3 in the examples, and change as one";
}

TEST(Verify, calls_refused_both_ways_agree_and_are_counted) {
  auto sum_of =
      function([](Tensor a, Tensor b) { return a + b; }, {.name = "sum_of", .signature = {spec(f32, {dim("n")}), spec(f32, {dim("m")})}});
  const Verification result = verify(sum_of, {{.name = "n", .min = 2, .max = 5}, {.name = "m", .min = 2, .max = 5}}, {.count = 20});
  EXPECT_TRUE(result) << to_string(result);
  EXPECT_GT(result.refused, 0);
  EXPECT_LT(result.refused, 20);
}

TEST(Verify, nothing_is_said_to_agree_where_nothing_was_compared) {
  auto sum_of = function([](Tensor a, Tensor b) { return a + b; },
                         {.name = "sum_of", .signature = {spec(f32, {dim("n", {.min = 2})}), spec(f32, {dim("m", {.min = 2})})}});
  const Verification refused = verify(sum_of, {{.name = "n", .min = 2, .max = 3}, {.name = "m", .min = 5, .max = 9}});
  EXPECT_FALSE(refused);
  EXPECT_TRUE(refused.difference.empty());
  EXPECT_EQ(refused.compared(), 0);
  EXPECT_EQ(refused.refused, 32);
  const std::string text = to_string(refused);
  EXPECT_EQ(text.rfind("nothing was compared: 32 calls refused both ways, the first with: ", 0), 0U) << text;
  EXPECT_NE(text.find("add"), std::string::npos) << text;
  const Verification none = verify(sum_of, {}, {.count = 0});
  EXPECT_FALSE(none);
  EXPECT_EQ(to_string(none), "nothing was compared: no call was tried");
}

TEST(Verify, sizes_that_do_not_fit_in_memory_are_refused_with_their_names) {
  auto square = function([](Tensor x) { return x * x; }, {.name = "square", .signature = {spec(f32, {dim("n"), 3}, "x")}});
  const std::string text = text_of<ArgumentError>([&] { verify(square, {{.name = "n", .max = int64_t{1} << 60}}); });
  EXPECT_EQ(
      text.rfind("verify: at n = 1152921504606846976 an argument would be x: f32[1152921504606846976, 3], which takes more than the ", 0),
      0U)
      << text;
  EXPECT_NE(text.find("Give a smaller .max."), std::string::npos) << text;
  EXPECT_THROW(verify(square, {{.name = "n", .max = INT64_MAX}}), ArgumentError);
  EXPECT_THROW(verify(square, {{.name = "n", .min = INT64_MAX - 1, .max = INT64_MAX}}), ArgumentError);
}

TEST(Verify, variables_and_random_numbers_start_equal_and_are_left_alone) {
  const Variable count(zeros({2}), {.name = "count"});
  auto step = function(
      [&](Tensor x) {
        count.assign_add(ones({2}));
        return x * random::normal(x.shape()) + random::uniform({1}) + sum(count);
      },
      {.name = "step", .signature = {spec(f32, {dim("n")})}});
  random::set_seed(3);
  const Tensor expected = random::normal({4});
  random::set_seed(3);
  const Verification result = verify(step, {}, {.count = 8});
  EXPECT_TRUE(result) << to_string(result);
  EXPECT_EQ(count.read().to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_TRUE(all_equal(random::normal({4}), expected));
}

TEST(Verify, wrong_ranges_are_named) {
  auto square =
      function([](Tensor x) { return x * x; }, {.name = "square", .signature = {spec(f32, {dim("n", {.max = 8, .multiple_of = 4})})}});
  EXPECT_EQ(text_of<ArgumentError>([&] { verify(square, {{.name = "rows"}}); }), "verify: \"rows\" is no size; expected \"n\".");
  EXPECT_EQ(text_of<ArgumentError>([&] { verify(square, {{.name = "n", .max = 9}}); }),
            "verify: the range 0..9 of \"n\" is empty or wider than its signature; expected a part of 0..8.");
  EXPECT_EQ(text_of<ArgumentError>([&] { verify(square, {{.name = "n", .min = 5, .max = 7}}); }),
            "verify: the range 5..7 of \"n\" holds no multiple of 4; expected a wider one.");
  auto open = function([](Tensor x) { return x * x; }, {.name = "open"});
  EXPECT_EQ(
      text_of<ArgumentError>([&] { verify(open); }),
      "verify: function \"open\" has no signature; expected one, or examples of the arguments after the options: verify(f, {}, {}, x).");
}

}  // namespace
}  // namespace anyshape::test
