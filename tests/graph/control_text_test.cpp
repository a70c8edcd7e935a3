// Regions in the text form: graphs inside nodes read back as they were written, and hostile ones are refused.
#include "graph/graph_text.h"
#include "graph/regions.h"
#include "graph/text.h"
#include "ops/all_ops.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

const std::string branch = R"(graph f(%0 c: b8[], %1 x: f32[n]) {
  %2 = cond(%0, %1, %1) {then_inputs=1} : f32[n]
    then(%0: f32[n]) {
      %1 = exp(%0) : f32[n]
      return %1
    }
    else(%0: f32[n]) {
      return %0
    }
  return %2
}
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ControlText, regions_round_trip) {
  EXPECT_EQ(again(branch), branch);
  auto traced = function([](Tensor xs, Tensor h) {
    const auto [last, all] = scan(
        [&](const Tensor& c, const Tensor& x) {
          const Tensor next = cond(sum(x) > 0.0f, [&] { return tanh(c + x); }, [&] { return c * h; });
          return std::pair(next, next * x);
        },
        h, xs, {.reverse = true});
    return while_loop([](const Tensor& y) { return sum(y) > 1.0f; }, [&](const Tensor& y) { return y * 0.5f; }, last + sum(all));
  });
  traced(ones({4, 3}), ones({3}));
  const std::string text = traced.traces()[0].graph;
  EXPECT_EQ(again(text), text);
  EXPECT_EQ(graph::count_nodes(*graph::clone(*graph::parse(text, find_op))), graph::count_nodes(*graph::parse(text, find_op)));
}

TEST(ControlText, refuses_regions_that_do_not_fit_their_node) {
  EXPECT_NE(refusal(with(branch, "else(%0: f32[n])", "else(%0: f32[2 * n])")).find("cond needs a check: n == 2 * n"), std::string::npos)
      << refusal(with(branch, "else(%0: f32[n])", "else(%0: f32[2 * n])"));
  EXPECT_NE(refusal(with(branch, "then(%0: f32[n])", "then(%0: f64[n])")).find("f64[n]"), std::string::npos);
  EXPECT_NE(refusal(with(branch, "then_inputs=1", "then_inputs=7")).find("then_inputs is 7"), std::string::npos);
  EXPECT_NE(refusal(with(branch, "then_inputs=1", "then_inputs=-1")).find("then_inputs is -1"), std::string::npos);
  EXPECT_NE(refusal(with(branch, "%1 = exp(%0) : f32[n]", "%1 = exp(%7) : f32[n]")).find("%7 is used before it is made"),
            std::string::npos);
  EXPECT_NE(refusal(with(branch, "else(", "other(")).find("\"else\""), std::string::npos);
  EXPECT_NE(refusal(with(branch, "      return %0\n", "      return\n")).find("the regions give 1 and 0 values"), std::string::npos);
  EXPECT_NE(refusal(branch.substr(0, branch.find("return"))).find("found the end of the text"), std::string::npos)
      << refusal(branch.substr(0, branch.find("return")));
}

TEST(ControlText, refuses_regions_too_deep_in_each_other) {
  std::string text = "graph f(%0 c: b8[], %1 x: f32[n]) {\n";
  for (int depth = 0; depth < 40; ++depth) text += "%2 = cond(%0, %0, %1, %1) {then_inputs=2} : f32[n]\nthen(%0: b8[], %1: f32[n]) {\n";
  EXPECT_NE(refusal(text).find("deep in each other"), std::string::npos) << refusal(text);
}

}  // namespace
}  // namespace anyshape::test
