// Samples as fuzzed calls: every op has samples, so a new one is fuzzed without a line more.
#include "check/fuzz_table.h"
#include "check/op_samples.h"

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::check {
namespace {

// Another rank or dtype where the kind says so, another size where the call does.
void spoil(InputPlan& plan, FuzzBytes& bytes) {
  const int64_t what = bytes.below(100);
  if (what < 5 && plan.sizes.size() < 8) plan.sizes.push_back(bytes.value_below(4));
  if (what >= 5 && what < 10 && !plan.sizes.empty()) plan.sizes.erase(plan.sizes.begin());
  if (what >= 10 && what < 20) plan.dtype = bytes.dtype();
  if (!plan.sizes.empty() && bytes.value_chance(15)) {
    const auto axis = static_cast<size_t>(bytes.value_below(static_cast<int64_t>(plan.sizes.size())));
    plan.sizes[axis] = bytes.value_below(6);
  }
  if (bytes.value_chance(15)) plan.domain = {.low = -300, .high = 300};
}

}  // namespace

FuzzCall decode_sample(FuzzBytes& bytes) {
  const OpSample& sample = bytes.pick(all_samples());
  const auto number = static_cast<int>(bytes.below(std::min(sample.cases, 256)));
  const Dtype dtype = bytes.chance(85) ? bytes.pick(sample.dtypes) : bytes.dtype();
  bytes.say(fmt::format("{} case {}", sample.name, number));
  Random random(bytes.value_seed());
  random.elements = bytes.value_below(8) == 0 ? 64 : 16;
  random.largest = 17;
  std::vector<InputPlan> plans = sample.inputs(random, dtype, number);
  FuzzCall call;
  for (InputPlan& plan : plans) {
    spoil(plan, bytes);
    const View view = bytes.view();
    bytes.say(fmt::format("{}{} {}", to_string(plan.dtype), to_string(plan.sizes), to_string(view)));
    call.tensors.push_back(draw_tensor(random, plan.dtype, plan.sizes, plan.domain, view));
  }
  call.run = [&sample, number](std::span<const Tensor> in) { return sample.call(in, number); };
  return call;
}

}  // namespace anyshape::check
