// check_frozen: host values that change from run to run are found, and looking for them leaves no mark.
#include "support/warnings.h"

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

TEST(Frozen, host_numbers_are_compared_as_the_host_gave_them) {
  double seconds = 1763458311.25;  // a time of day: f32 has steps of 128 s there
  auto frozen = frozen_in([&](Tensor x) { return x + (seconds += 0.5); });
  ASSERT_EQ(frozen.size(), 1U);
  EXPECT_EQ(frozen[0].text, "add holds the host number 1763458311.75; a second run gave 1763458312.25");
  frozen = frozen_in([&](Tensor x) { return cond(sum(x) > 0.0, [&] { return x * -Tensor(seconds += 0.5); }, [&] { return x; }); });
  ASSERT_EQ(frozen.size(), 1U);
  EXPECT_EQ(frozen[0].op, "negative");
}

TEST(Frozen, attributes_and_tensors_made_on_the_way_are_found) {
  int64_t count = 0;
  auto frozen = frozen_in([&](Tensor x) { return sum(x) + sum(slice(x, {{0, ++count}})); });
  ASSERT_FALSE(frozen.empty());
  EXPECT_EQ(frozen[0].op, "slice") << frozen[0].text;
  frozen = frozen_in([&](Tensor x) { return sum(cumsum(x, {.axis = 0, .reverse = ++count % 2 == 0})); });
  ASSERT_EQ(frozen.size(), 1U);
  EXPECT_EQ(frozen[0].text, "cumsum holds reverse=false; a second run gave reverse=true");  // nothing of what is the same
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

TEST(Frozen, the_first_trace_warns_by_default_with_function_op_values_and_cure) {
  const Warnings warnings;
  int count = 0;
  auto noisy = function([&](Tensor x) { return x + static_cast<float>(++count); }, {.name = "noisy", .retrace = Retrace::Allow});
  noisy(ones({3}));
  EXPECT_EQ(count, 2);
  EXPECT_EQ(noisy.stats().traces, 1);
  EXPECT_EQ(noisy.stats().compiles, 1);
  ASSERT_EQ(warnings.texts().size(), 1U);
  EXPECT_EQ(
      warnings.texts()[0],
      "function \"noisy\": add holds the host number 1; a second run gave 2. What a callable takes from the host while it is traced is a "
      "constant of every later call: pass it as an argument (as::Tensor), keep it in an as::Variable, or draw it with as::random. Where "
      "one value for all calls is meant, compute it outside, or set .check_frozen = false.");
  noisy(ones({3, 3}));  // a later trace is made once
  EXPECT_EQ(count, 3);
  EXPECT_EQ(noisy.stats().traces, 2);
  EXPECT_EQ(warnings.texts().size(), 1U);
}

TEST(Frozen, many_values_are_one_warning_that_counts_them) {
  const Warnings warnings;
  float count = 0;
  auto noisy = function(
      [&](Tensor x) {
        for (int i = 0; i < 5; ++i) x = x + ++count;
        return x;
      },
      {.name = "noisy"});
  noisy(ones({3}));
  ASSERT_EQ(warnings.texts().size(), 1U);
  EXPECT_NE(warnings.texts()[0].find("; and 2 more, which report() lists."), std::string::npos) << warnings.texts()[0];
  EXPECT_EQ(noisy.traces()[0].frozen.size(), 5U);
}

TEST(Frozen, values_inside_branches_and_loops_are_found) {
  float count = 0;
  auto frozen = frozen_in([&](Tensor x) { return cond(sum(x) > 0.0f, [&] { return x * ++count; }, [&] { return x; }); });
  ASSERT_EQ(frozen.size(), 1U);
  EXPECT_EQ(frozen[0].text, "multiply holds the host number 1; a second run gave 2");
  frozen = frozen_in([&](Tensor x) {
    count = count + 1;
    if (sum(x) > 0.0f) return x - count;
    return x;
  });
  EXPECT_FALSE(frozen.empty());
}

TEST(Frozen, another_variable_and_another_result_are_found) {
  const Variable a(ones({3}), {.name = "a"}), b(ones({3}), {.name = "b"});
  bool flip = false;
  auto frozen = frozen_in([&](Tensor x) {
    flip = !flip;
    return x + (flip ? a : b);
  });
  ASSERT_EQ(frozen.size(), 1U);
  EXPECT_EQ(frozen[0].text, "add holds variable \"a\"; a second run took variable \"b\"");
  frozen = frozen_in([&](Tensor x) {
    flip = !flip;
    const Tensor up = exp(x), down = log(x);
    return flip ? up : down;
  });
  ASSERT_EQ(frozen.size(), 1U);
  EXPECT_NE(frozen[0].text.find("the result of exp stands where a second run did return that of log"), std::string::npos) << frozen[0].text;
}

TEST(Frozen, sizes_found_in_data_are_no_difference) {
  EXPECT_TRUE(frozen_in([](Tensor x) {
                const Tensor found = boolean_mask(x, x > 0.0f);
                return reshape(found, {found.shape()[0], 1}) + zeros({found.shape()[0], 2});
              }).empty());
}

TEST(Frozen, whatever_the_second_run_throws_the_call_goes_on) {
  const Warnings warnings;
  int runs = 0;
  auto fragile = function(
      [&](Tensor x) {
        if (++runs > 1) throw 7;
        return x + 1.0f;
      },
      {.name = "fragile"});
  EXPECT_EQ(fragile(ones({1})).item<float>(), 2.0f);
  ASSERT_EQ(warnings.texts().size(), 1U);
  EXPECT_NE(warnings.texts()[0].find("function \"fragile\": the callable threw when it was run a second time"), std::string::npos);
}

TEST(Frozen, functions_inside_functions_run_twice_and_not_more) {
  int runs = 0;
  auto innermost = function(
      [&](Tensor x) {
        ++runs;
        return x + 1.0f;
      },
      {.name = "innermost"});
  auto inner = function([&](Tensor x) { return innermost(x) * 2.0f; }, {.name = "inner"});
  auto outer = function([&](Tensor x) { return inner(x) - 1.0f; }, {.name = "outer"});
  outer(ones({2}));
  EXPECT_EQ(runs, 2);
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
