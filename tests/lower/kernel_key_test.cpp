// Keys of groups: equal where the loops are, another wherever something that loops are written from is; and what is written again for an equal one.
#include "lower/kernel_key.h"

#include "lower/lowered.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace anyshape::test {
namespace {

using Words = lower::KernelKey::Words;

// Of every kernel of a graph; an empty one is not shared.
std::vector<Words> keys_of(const std::string& text) {
  const auto graph = graph::parse(text, find_op);
  Decisions decisions;
  const lower::Groups groups = lower::group(*graph, decisions);
  lower::SizeNumbers sizes;
  std::vector<Words> keys;
  for (const lower::PlannedKernel& planned : groups.kernels) {
    lower::KernelKey key(sizes, groups, [](const graph::Value* value) { return value->id; });
    key.add(planned);
    keys.push_back(key.is_shared() ? key.words() : Words{});
  }
  return keys;
}

// The keys of two groups over x and y, as two kernels.
bool are_equal(const std::string& x, const std::string& y, const std::string& first, const std::string& second) {
  const std::vector<Words> keys = keys_of(fmt::format(R"(graph f(%0 x: {}, %1 y: {}) {{
{}
{}
  return %4, %8
}}
)",
                                                      x, y, first, second));
  EXPECT_EQ(keys.size(), 2U);
  return keys[0] == keys[1] && !keys[0].empty();
}

TEST(KernelKey, equal_groups_have_one_key) {
  EXPECT_TRUE(are_equal("f32[n, 8]", "f32[n, 8]", "  %3 = exp(%0) : f32[n, 8]\n  %4 = sum(%3) {axes=[1], keep_dims=false} : f32[n]",
                        "  %7 = exp(%1) : f32[n, 8]\n  %8 = sum(%7) {axes=[1], keep_dims=false} : f32[n]"));
}

TEST(KernelKey, other_ops_attributes_sizes_or_dtypes_have_another) {
  const std::string first = "  %3 = exp(%0) : f32[n, n]\n  %4 = sum(%3) {axes=[1], keep_dims=false} : f32[n]";
  EXPECT_FALSE(
      are_equal("f32[n, n]", "f32[n, n]", first, "  %7 = tanh(%1) : f32[n, n]\n  %8 = sum(%7) {axes=[1], keep_dims=false} : f32[n]"));
  EXPECT_FALSE(
      are_equal("f32[n, n]", "f32[n, n]", first, "  %7 = exp(%1) : f32[n, n]\n  %8 = sum(%7) {axes=[0], keep_dims=false} : f32[n]"));
  EXPECT_FALSE(
      are_equal("f32[n, n]", "f32[m, n]", first, "  %7 = exp(%1) : f32[m, n]\n  %8 = sum(%7) {axes=[1], keep_dims=false} : f32[m]"));
  EXPECT_FALSE(
      are_equal("f32[n, n]", "f64[n, n]", first, "  %7 = exp(%1) : f64[n, n]\n  %8 = sum(%7) {axes=[1], keep_dims=false} : f64[n]"));
}

TEST(KernelKey, a_value_that_is_read_twice_is_not_two_values) {
  const auto key_with = [](const std::string& second) {
    return keys_of(fmt::format(
        "graph f(%0 x: f32[8], %1 y: f32[8]) {{\n  %2 = exp(%0) : f32[8]\n  %3 = multiply(%2, {}) : f32[8]\n  return %3\n}}\n", second))[0];
  };
  EXPECT_EQ(key_with("%0"), key_with("%0"));
  EXPECT_NE(key_with("%0"), key_with("%1"));
}

TEST(KernelKey, what_checks_its_indices_is_not_shared) {
  const std::vector<Words> keys = keys_of(R"(graph f(%0 x: f32[n], %1 i: i32[m]) {
  %2 = take(%0, %1) {axis=0, batch_dims=0, from_end=true} : f32[m]
  return %2
}
)");
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_TRUE(keys[0].empty());
}

// Of so many arguments: all but the first are written again.
std::string softmaxes(int count) {
  std::string arguments, body, results;
  for (int i = 0; i < count; ++i) {
    const int first = count + 5 * i;
    arguments += fmt::format("{}%{} x{}: f32[n, m]", i > 0 ? ", " : "", i, i);
    body += fmt::format("  %{} = max(%{}) {{axes=[1], keep_dims=true}} : f32[n, 1]\n", first, i);
    body += fmt::format("  %{} = subtract(%{}, %{}) : f32[n, m]\n", first + 1, i, first);
    body += fmt::format("  %{} = exp(%{}) : f32[n, m]\n", first + 2, first + 1);
    body += fmt::format("  %{} = sum(%{}) {{axes=[1], keep_dims=true}} : f32[n, 1]\n", first + 3, first + 2);
    body += fmt::format("  %{} = divide(%{}, %{}) : f32[n, m]\n", first + 4, first + 2, first + 3);
    results += fmt::format("{}%{}", i > 0 ? ", " : "", first + 4);
  }
  return fmt::format("graph f({}) {{\n{}  return {}\n}}\n", arguments, body, results);
}

TEST(KernelKey, what_is_written_again_is_what_would_be_written) {
  const Lowered one = lowered(softmaxes(1)), three = lowered(softmaxes(3));
  ASSERT_EQ(three.launches.size(), 3 * one.launches.size());
  for (size_t i = 0; i < three.launches.size(); ++i) {
    const lower::Launch &launch = three.launches[i], &same = one.launches[i % one.launches.size()];
    EXPECT_EQ(loop::print(*launch.kernel), loop::print(*same.kernel));
    EXPECT_EQ(launch.buffers.size(), same.buffers.size());
    EXPECT_EQ(launch.dims.size(), same.dims.size());
    if (i > 0) EXPECT_NE(launch.buffers, three.launches[i - 1].buffers);
  }
  // What was decided about the first is told of all.
  const auto told = [](const Lowered& program) { return std::ranges::count(program.decisions, "rows_together", &Decision::stage); };
  EXPECT_EQ(told(three), 3 * told(one));
}

}  // namespace
}  // namespace anyshape::test
