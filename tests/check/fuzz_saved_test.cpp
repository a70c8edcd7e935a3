// Files of every op's samples, changed: what their attributes may say.
#include "check/sample_calls.h"
#include "check/traced.h"
#include "function/compile.h"
#include "saved/mutated_files.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::check {
namespace {

// One case of each sample, with and without a gradient.
test::SavedSeeds seeds() {
  const function_detail::ScopedInterpretation interpretation;
  test::SavedSeeds seeds;
  for (const OpSample& sample : all_samples()) {
    Random random(3);
    const int number = sample.cases - 1;
    Traced traced(call_of(sample, number));
    run([&](Tensors in) { return traced({in.begin(), in.end()}); }, draw_inputs(sample, random, sample.dtypes[0], number, false));
    seeds.add(traced.function());
    if (sample.differentiable.empty()) continue;
    Traced backward([&](std::span<const Tensor> in) { return gradients_of(sample, number, in); });
    backward(draw_smooth_inputs(sample, random, number));
    seeds.add(backward.function());
  }
  return seeds;
}

TEST(FuzzSavedSamples, load_and_run_or_are_refused_1_of_4) { test::fuzz_files(seeds(), 0); }
TEST(FuzzSavedSamples, load_and_run_or_are_refused_2_of_4) { test::fuzz_files(seeds(), 1); }
TEST(FuzzSavedSamples, load_and_run_or_are_refused_3_of_4) { test::fuzz_files(seeds(), 2); }
TEST(FuzzSavedSamples, load_and_run_or_are_refused_4_of_4) { test::fuzz_files(seeds(), 3); }

}  // namespace
}  // namespace anyshape::check
