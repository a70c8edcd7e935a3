// Equality: nothing that can be switched off changes a result. Samples of ops, their gradients and random graphs, with each switch off in
// turn, against eager calls: a few of them always, all of them where ANYSHAPE_ALL_SWITCHES=1 (tools/check_switches).
#include "base/switches.h"
#include "check/compare_graph.h"
#include "check/sample_calls.h"
#include "check/traced.h"
#include "function/compile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace anyshape::check {
namespace {

using function_detail::ScopedInterpretation;

bool all_of_them() { return std::getenv("ANYSHAPE_ALL_SWITCHES") != nullptr; }

class WithoutEach : public testing::TestWithParam<std::string> {
 protected:
  size_t number() const {
    const std::vector<const Switch*> all = all_switches();
    return static_cast<size_t>(std::ranges::find(all, GetParam(), &Switch::name) - all.begin());
  }
  // In a short run each switch has a share of the samples of its own.
  bool is_chosen(size_t sample, size_t of) const { return all_of_them() || sample % of == number() % of; }
};

TEST_P(WithoutEach, ops_give_the_same) {
  const ScopedWithout without(GetParam());
  for (size_t i = 0; i < all_samples().size() && !HasFailure(); ++i) {
    if (!is_chosen(i, 12)) continue;
    const OpSample& sample = all_samples()[i];
    SCOPED_TRACE(sample.name);
    const ScopedInterpretation interpretation;
    const int cases = all_of_them() ? sample.cases : 1;
    for (int number = 0; number < cases && !HasFailure(); ++number) {
      Traced traced(call_of(sample, number));
      Random random(2000 + static_cast<uint64_t>(number));
      random.elements = 200;
      for (int shape = 0; shape < (all_of_them() ? 6 : 3); ++shape) {
        random.every = shape == 1 ? 0 : shape == 2 ? 1 : -1;
        const std::vector<Tensor> inputs = draw_inputs(sample, random, sample.dtypes[0], number, false);
        SCOPED_TRACE(describe(sample.dtypes[0], number, inputs));
        const std::vector<Tensor> expected = run(call_of(sample, number), inputs);
        expect_same(sample, run([&](Tensors in) { return traced({in.begin(), in.end()}); }, inputs), expected, "traced against eager");
      }
    }
  }
}

TEST_P(WithoutEach, gradients_are_the_same) {
  const ScopedWithout without(GetParam());
  for (size_t i = 0; i < all_samples().size() && !HasFailure(); ++i) {
    const OpSample& sample = all_samples()[i];
    if (!is_chosen(i, 12) || sample.differentiable.empty()) continue;
    SCOPED_TRACE(sample.name);
    const ScopedInterpretation interpretation;
    const int cases = all_of_them() ? sample.cases : 1;
    for (int number = 0; number < cases && !HasFailure(); ++number) {
      Traced traced([&](Tensors in) { return gradients_of(sample, number, in); });
      Random random(3000 + static_cast<uint64_t>(number));
      random.elements = 40;
      for (int shape = 0; shape < 3; ++shape) {
        random.every = shape == 1 ? 0 : shape == 2 ? 1 : -1;
        const std::vector<Tensor> inputs = draw_smooth_inputs(sample, random, number);
        SCOPED_TRACE(describe(Dtype::f64, number, inputs));
        const std::vector<Tensor> expected = run([&](Tensors in) { return gradients_of(sample, number, in); }, inputs);
        const std::vector<Tensor> got = run([&](Tensors in) { return traced({in.begin(), in.end()}); }, inputs);
        for (size_t k = 0; k < got.size(); ++k) EXPECT_EQ(difference(got[k], to_flat(expected[k]), {1e-12, 1e-13}), "") << "gradient " << k;
      }
    }
  }
}

TEST_P(WithoutEach, random_graphs_give_the_same) {
  const ScopedWithout without(GetParam());
  const uint64_t count = all_of_them() ? 500 : 3, first = all_of_them() ? 0 : 10'000 + 3 * number();
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const Dtype dtype = seed % 2 == 0 ? Dtype::f64 : Dtype::f32;
    const RandomGraph graph = draw_graph(seed);
    check_graph(graph, How::Interpreted, dtype);
    if (all_of_them() && seed % 5 == 0) check_graph(graph, How::Compiled, dtype);
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Switch* each : all_switches()) all.emplace_back(each->name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Switches, WithoutEach, testing::ValuesIn(names()),
                         [](const testing::TestParamInfo<std::string>& info) { return info.param; });

}  // namespace
}  // namespace anyshape::check
