// check_frozen: host values that change from run to run are found, and looking for them leaves no mark.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <limits>

namespace anyshape::test {
namespace {

std::vector<FrozenValue> frozen_in(const std::function<Tensor(Tensor)>& callable) {
  auto traced = function(callable, {.name = "traced", .check_frozen = true});
  traced(ones({3}));
  EXPECT_EQ(traced.stats().traces, 1);
  EXPECT_EQ(traced.stats().calls, 1);
  return traced.traces()[0].frozen;
}

TEST(Frozen, host_numbers_are_named_with_the_op_that_holds_them) {
  int64_t count = 0;
  const auto frozen = frozen_in([&](Tensor x) { return maximum(x * 2.0f, static_cast<float>(++count)); });
  ASSERT_EQ(frozen.size(), 1U);
  EXPECT_EQ(frozen[0].op, "maximum");
  EXPECT_EQ(frozen[0].text, "maximum holds the host number 1; a second run gave 2");
}

TEST(Frozen, attributes_and_tensors_made_on_the_way_are_found) {
  int64_t count = 0;
  auto frozen = frozen_in([&](Tensor x) { return sum(x) + sum(slice(x, {{0, ++count}})); });
  ASSERT_FALSE(frozen.empty());
  EXPECT_EQ(frozen[0].op, "slice") << frozen[0].text;
  frozen = frozen_in([&](Tensor x) { return x + tensor({static_cast<float>(++count), 2.0f, 3.0f}); });
  ASSERT_EQ(frozen.size(), 1U);
  EXPECT_EQ(frozen[0].text, "add holds a tensor f32[3] made by the callable; a second run gave other values");
}

TEST(Frozen, another_path_is_one_finding) {
  bool flip = false;
  const auto frozen = frozen_in([&](Tensor x) {
    flip = !flip;
    return flip ? exp(x) + 1.0f : log(x) * 2.0f;
  });
  ASSERT_EQ(frozen.size(), 1U);
  EXPECT_EQ(frozen[0].text,
            "exp stands where a second run did log: the callable takes another path from run to run, and this trace holds one of them");
}

TEST(Frozen, a_second_run_that_throws_is_told_and_harms_nothing) {
  int runs = 0;
  const auto frozen = frozen_in([&](Tensor x) {
    if (++runs > 1) throw std::runtime_error("only once");
    return x + 1.0f;
  });
  ASSERT_EQ(frozen.size(), 1U);
  EXPECT_EQ(frozen[0].text, "the callable threw when it was run a second time: only once");
}

TEST(Frozen, what_does_not_change_is_not_reported) {
  const Tensor table = ones({3});
  EXPECT_TRUE(frozen_in([&](Tensor x) { return x * table + tensor({1.f, std::numeric_limits<float>::quiet_NaN(), 3.f}) + 0.5f; }).empty());
}

TEST(Frozen, random_state_and_variables_are_as_after_one_run) {
  const Variable state(zeros({3}));
  auto step = [&](Tensor x) {
    state.assign_add(x);
    return x + random::normal({3});
  };
  random::set_seed(8);
  auto checked = function(step, {.name = "checked", .check_frozen = true});
  const Tensor first = checked(ones({3})), after_first = random::normal({2});
  EXPECT_TRUE(checked.traces()[0].frozen.empty());
  EXPECT_EQ(state.read().to_vector<float>(), (std::vector<float>{1, 1, 1}));
  random::set_seed(8);
  auto plain = function(step, {.name = "plain", .check_frozen = false});
  EXPECT_TRUE(all_equal(plain(ones({3})), first));
  EXPECT_TRUE(all_equal(random::normal({2}), after_first));
}

TEST(Frozen, off_means_one_run) {
  int runs = 0;
  auto once = function(
      [&](Tensor x) {
        ++runs;
        return x;
      },
      {.name = "once", .check_frozen = false});
  once(ones({1}));
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace anyshape::test
